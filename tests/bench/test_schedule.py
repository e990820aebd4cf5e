# SPDX-License-Identifier: MIT
"""Rounds are interleaved, bounded in time, and skip locks that hang."""

from __future__ import annotations

from bench.samples import make_case

from hasp.lab.bench.cases import BATON, FLOOR, GLIBC, Case, select_cases
from hasp.lab.bench.runner import COLLAPSE, HANG, Sample
from hasp.lab.bench.schedule import Samples, groups_of, run_rounds, subjects_of


class Bench:
    """A benchmark that measures nothing, but takes time on a clock of its own."""

    def __init__(
        self, seconds: float = 1.0, hanging: str = "", outcome: str = HANG
    ) -> None:
        self.now = 0.0
        self.seconds = seconds
        self.hanging = hanging
        self.outcome = outcome
        self.log: list[tuple[str, str]] = []

    def clock(self) -> float:
        return self.now

    def measure(self, case: Case, subject: str) -> Sample:
        self.now += self.seconds
        self.log.append((case.name, subject))
        return self.sample(subject)

    def sample(self, subject: str) -> Sample:
        bad = subject == self.hanging
        return Sample(None, outcome=self.outcome) if bad else Sample(1.0)

    def run(
        self, cases: list[Case], locks: list[str], rounds: int, limit: float | None
    ) -> Samples:
        samples = Samples()
        for _ in run_rounds(
            self.measure, cases, locks, rounds, limit, samples, self.clock
        ):
            pass
        return samples


def test_subjects_are_glibc_the_floor_and_the_locks() -> None:
    assert subjects_of(make_case(has_floor=True), ["glibc", "mcs"]) == [
        GLIBC,
        FLOOR,
        "mcs",
    ]
    assert subjects_of(make_case(has_floor=False), ["mcs"]) == [GLIBC, "mcs"]
    assert subjects_of(make_case("baton_ring", uses_lock=False), ["mcs"]) == [BATON]


def test_each_load_is_a_group() -> None:
    cases = [
        make_case("think_time", think_ns=think_ns, pinned=pinned)
        for think_ns in (0, 100)
        for pinned in (True, False)
    ]
    assert groups_of(cases) == [[case] for case in cases]


def test_a_quick_run_measures_few_think_times() -> None:
    loads = {case.load for case in select_cases("think_time") if case.think_ns}
    quick = [case for case in select_cases(None, quick=True) if case.think_ns]
    assert len(quick) == 3 and {case.load for case in quick} < loads
    assert all(case.pinned and case.think_ns == 100 for case in quick)


def test_the_baton_ring_stays_with_its_case() -> None:
    cases = [make_case(name) for name in ("contended", "oversubscribed", "baton_ring")]
    assert groups_of(cases) == [[cases[0]], [cases[1], cases[2]]]


def test_rings_stay_with_the_case_of_as_many_threads() -> None:
    names = ("oversubscribed", "baton_ring")
    cases = [make_case(name, threads=n) for name in names for n in (8, 32)]
    assert groups_of(cases) == [[cases[0], cases[2]], [cases[1], cases[3]]]


def test_the_locks_of_a_case_follow_each_other() -> None:
    bench = Bench()
    cases = [make_case("contended"), make_case("trylock")]
    samples = bench.run(cases, ["mcs", "clh"], 4, None)
    assert samples.rounds == 4
    for start in range(0, len(bench.log), 3):
        names, subjects = zip(*bench.log[start : start + 3], strict=True)
        assert len(set(names)) == 1
        assert set(subjects) == {GLIBC, "mcs", "clh"}
    assert all(len(taken) == 4 for taken in samples.of.values())


def test_the_order_changes_between_rounds() -> None:
    bench = Bench()
    bench.run([make_case("contended")], ["mcs", "clh", "ttas"], 20, None)
    orders = {tuple(bench.log[start : start + 4]) for start in range(0, 80, 4)}
    assert len(orders) > 1


def test_the_limit_holds_and_every_case_is_measured() -> None:
    bench = Bench(seconds=1.0)
    cases = [make_case(name) for name in ("contended", "trylock", "startup")]
    samples = bench.run(cases, ["mcs"], 100, 20.0)
    assert bench.now <= 20.0
    assert {case.name for case, _ in samples.of} == {case.name for case in cases}


def test_a_lock_that_collapses_twice_is_not_run_again() -> None:
    bench = Bench(hanging="ticket", outcome=COLLAPSE)
    case = make_case("oversubscribed")
    samples = bench.run([case], ["ticket", "clh"], 6, None)
    assert len(samples.of[case, "ticket"]) == 2
    assert len(samples.of[case, "clh"]) == 6


def test_a_lock_that_hangs_twice_is_not_run_again() -> None:
    bench = Bench(hanging="mcs")
    case = make_case("contended")
    samples = bench.run([case], ["mcs", "clh"], 6, None)
    assert len(samples.of[case, "mcs"]) == 2
    assert len(samples.of[case, "clh"]) == 6
