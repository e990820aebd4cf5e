# SPDX-License-Identifier: MIT
"""Samples become figures, ratios, outcomes and verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.samples import collect, make_case, make_lock

from hasp.base.output import json_line
from hasp.lab.bench.figure import draw
from hasp.lab.bench.judge import judge, limit_of
from hasp.lab.bench.records import row_of
from hasp.lab.bench.report import summary_columns
from hasp.lab.bench.rows import make_rows
from hasp.lab.bench.runner import COLLAPSE, FAILED, HANG, OK, Sample
from hasp.lab.bench.targets import RATIO
from hasp.locks.native import LockInfo

ROUNDS = 7


def test_the_ratio_is_that_of_the_medians() -> None:
    case = make_case()
    samples = collect(case, glibc=[20.0] * ROUNDS, mcs=[10.0] * (ROUNDS - 1) + [99.0])
    glibc, mcs = make_rows(samples, [case], ["mcs"])
    assert (glibc.value, mcs.value) == (20.0, 10.0)
    assert mcs.ratio is not None
    assert mcs.ratio.value == 0.5
    assert mcs.extra is not None
    assert mcs.extra.value == -10.0
    assert mcs.outcome == OK


def test_a_hang_is_a_row_without_a_figure() -> None:
    case = make_case()
    hang = Sample(None, outcome=HANG, reason="2 of 2 threads are stuck")
    samples = collect(case, glibc=[20.0] * ROUNDS, mcs=[hang, hang])
    _, mcs = make_rows(samples, [case], ["mcs"])
    assert mcs.value is None
    assert (mcs.outcome, mcs.reason) == (HANG, "2 of 2 threads are stuck (2 of 2 runs)")
    record = json.loads(json_line(mcs.record()))
    assert record["value"] is None
    assert record["ratio_to_glibc"] is None, "infinite"


def test_the_partial_figure_of_a_hang_is_kept() -> None:
    case = make_case("contended", lower_is_better=False)
    samples = collect(
        case,
        glibc=[100.0] * ROUNDS,
        mcs=[40.0] * (ROUNDS - 1) + [Sample(3.0, outcome=HANG, reason="stuck")],
    )
    _, mcs = make_rows(samples, [case], ["mcs"])
    assert mcs.value == 40.0
    assert (mcs.outcome, mcs.reason) == (HANG, f"stuck (1 of {ROUNDS} runs)")


def test_far_too_slow_is_a_collapse() -> None:
    slow = make_case("oversubscribed", lower_is_better=False)
    samples = collect(slow, glibc=[1000.0] * ROUNDS, ticket=[1.0] * ROUNDS)
    assert make_rows(samples, [slow], ["ticket"])[1].outcome == COLLAPSE
    long = make_case("condvar_ping_pong")
    samples = collect(long, glibc=[1.0] * ROUNDS, ticket=[1000.0] * ROUNDS)
    assert make_rows(samples, [long], ["ticket"])[1].outcome == COLLAPSE


def test_fifo_handover_is_not_a_collapse() -> None:
    case = make_case("oversubscribed", lower_is_better=False)
    ring = make_case("baton_ring", lower_is_better=False, uses_lock=False)
    samples = collect(case, glibc=[9000.0] * ROUNDS, mcs=[90.0] * ROUNDS)
    samples.of.update(collect(ring, baton=[100.0] * ROUNDS).of)
    assert make_rows(samples, [case], ["mcs"])[1].outcome == COLLAPSE
    assert make_rows(samples, [case], ["mcs"], {"mcs"})[1].outcome == OK


def test_the_baton_ring_is_the_reference_of_the_oversubscribed_case() -> None:
    case = make_case("oversubscribed", lower_is_better=False)
    ring = make_case("baton_ring", lower_is_better=False, uses_lock=False)
    samples = collect(case, glibc=[1000.0] * ROUNDS, mcs=[90.0] * ROUNDS)
    samples.of.update(collect(ring, baton=[100.0] * ROUNDS).of)
    rows = make_rows(samples, [case, ring], ["mcs"])
    assert [row.lock for row in rows] == ["glibc", "mcs", "baton"]
    assert rows[1].baton_ratio is not None
    assert rows[1].baton_ratio.value == 0.9
    assert rows[1].record()["ratio_to_baton"] == 0.9


def test_targets_are_judged_by_the_interval() -> None:
    case = make_case("uncontended", threads=2)
    samples = collect(
        case,
        glibc=[10.0] * ROUNDS,
        futex=[6.8, 6.9, 6.9, 7.0, 7.1, 7.2, 7.2],
        mcs=[9.0, 9.9, 10.2, 9.5, 9.4, 9.6, 11.0],
    )
    locks = [make_lock("futex", default=True), make_lock("mcs", fifo=True)]
    rows = make_rows(samples, [case], ["futex", "mcs"])
    futex, mcs = judge(rows, locks, biased=True)
    assert not futex.met and futex.clear
    assert futex.words == "0.70 (0.69 to 0.72)x glibc's; wanted: at most 0.65"
    assert mcs.met and not mcs.clear
    futex, mcs = judge(rows, locks, biased=False)
    assert futex.met, "0.9 is sufficient if the biased release has to be off"


def test_a_ring_is_the_reference_of_as_many_threads() -> None:
    cases = {
        (name, threads): make_case(name, threads=threads, lower_is_better=False)
        for name in ("oversubscribed", "baton_ring")
        for threads in (8, 32)
    }
    samples = collect(cases["oversubscribed", 8], glibc=[10.0] * 7, mcs=[10.0] * 7)
    for key, baton in ((8, 10.0), (32, 20.0)):
        over = cases["oversubscribed", key]
        samples.of.update(collect(over, glibc=[10.0] * 7, mcs=[10.0] * 7).of)
        samples.of.update(collect(cases["baton_ring", key], baton=[baton] * 7).of)
    rows = make_rows(samples, list(cases.values()), ["mcs"], {"mcs"})
    ratios = {
        row.case.threads: row.baton_ratio.value
        for row in rows
        if row.lock == "mcs" and row.baton_ratio
    }
    assert ratios == {8: 1.0, 32: 0.5}


@pytest.mark.parametrize(
    ("ratio", "starvation", "met"),
    [(1.2, 0.9, True), (0.9, 0.9, False), (1.2, 1.1, False)],
)
def test_the_best_lock_has_to_reach_both_limits(
    ratio: float, starvation: float, met: bool
) -> None:
    case = make_case("oversubscribed", threads=8, lower_is_better=False)

    def samples_of(speed: float, starved: float) -> list[float | Sample]:
        return [Sample(1000 * speed, 0.5, 10 * starved)] * ROUNDS

    samples = collect(
        case,
        glibc=samples_of(1.0, 1.0),
        slow=samples_of(0.6, 0.5),
        best=samples_of(ratio, starvation),
    )
    locks = [make_lock("slow"), make_lock("best")]
    rows = make_rows(samples, [case], ["slow", "best"])
    verdicts = judge(rows, locks, biased=True)
    (verdict,) = (v for v in verdicts if "the best parking lock" in v.words)
    assert verdict.met == met
    assert verdict.row.lock == "best"


@pytest.mark.parametrize(
    ("lock", "limit"),
    [
        (make_lock("ttas"), 0.65),
        (make_lock("fissile", category="hierarchical"), 0.65),
        (make_lock("partitioned"), 0.75),
        (make_lock("clh-park"), 0.85),
        (make_lock("mcs"), 1.0),
        (make_lock("cna", category="hierarchical"), 1.0),
        (make_lock("hemlock"), 1.1),
        (make_lock("c-bo-mcs", category="hierarchical"), 1.6),
        (make_lock("hmcs", category="hierarchical"), 1.6),
        (make_lock("futex", default=True), 0.65),
        (make_lock("glibc"), None),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_target_of_a_pair_depends_on_the_family(
    lock: LockInfo, limit: float | None
) -> None:
    case = make_case("uncontended")
    samples = collect(case, **{"glibc": [10.0] * ROUNDS, lock.name: [9.0] * ROUNDS})
    row = make_rows(samples, [case], [lock.name])[-1]
    assert limit_of(row, lock, RATIO, biased=True) == limit


def test_a_row_can_be_read_from_its_record() -> None:
    case = make_case("oversubscribed", threads=8, lower_is_better=False)
    ring = make_case("baton_ring", threads=8, lower_is_better=False, uses_lock=False)
    hang = Sample(None, outcome=HANG, reason="stuck")
    samples = collect(case, glibc=[10.0] * ROUNDS, mcs=[9.0] * ROUNDS, clh=[hang] * 2)
    samples.of.update(collect(ring, baton=[8.0] * ROUNDS).of)
    for row in make_rows(samples, [case, ring], ["mcs", "clh"]):
        again = row_of(json.loads(json_line(row.record())))
        assert json_line(again.record()) == json_line(row.record())
        assert (again.outcome, again.samples) == (row.outcome, row.samples)


def test_the_figure_of_many_locks_names_all(tmp_path: Path) -> None:
    case = make_case("uncontended")
    kinds = ("competitive", "direct handoff", "hierarchical")
    locks = [make_lock(f"lock-{n}", category=kinds[n % 3]) for n in range(45)]
    values = {lock.name: [9.0 + lock.index] * ROUNDS for lock in locks}
    rows = make_rows(
        collect(case, glibc=[10.0] * ROUNDS, **values), [case], list(values)
    )
    draw(rows, locks, tmp_path / "locks.svg", "made up", biased=True)
    drawn = (tmp_path / "locks.svg").read_text()
    assert all(f">{lock.name}<" in drawn for lock in locks)
    assert all(f">{kind}:<" in drawn for kind in kinds)
    draw(rows, locks, tmp_path / "again.svg", "made up", biased=True)
    assert (tmp_path / "again.svg").read_text() == drawn


def test_a_lock_that_fails_misses_its_targets() -> None:
    case = make_case("create_destroy")
    samples = collect(
        case,
        glibc=[10.0] * ROUNDS,
        mcs=[Sample(None, outcome=FAILED, reason="died: aborted")] * 2,
    )
    rows = make_rows(samples, [case], ["mcs"])
    (verdict,) = judge(rows, [make_lock("mcs")], biased=True)
    assert not verdict.met
    assert "died: aborted" in verdict.words


def test_spinning_locks_only_have_to_finish_the_ping_pong() -> None:
    case = make_case("condvar_ping_pong")
    samples = collect(case, glibc=[1.0] * ROUNDS, ticket=[500.0] * ROUNDS)
    rows = make_rows(samples, [case], ["ticket"])
    (verdict,) = judge(rows, [make_lock("ticket", parks=False)], biased=True)
    assert verdict.met


def test_loads_with_think_time_are_rows_of_their_own() -> None:
    case = make_case("think_time", lower_is_better=False, think_ns=1000, pinned=True)
    (row,) = make_rows(collect(case, glibc=[1.0] * ROUNDS), [case], [])
    record = json.loads(json_line(row.record()))
    assert (record["think_ns"], record["pinned"]) == (1000, True)
    again = row_of(record).case
    assert (again.think_ns, again.pinned, again.threads) == (1000, True, 2)
    assert again.load == "2 threads, pinned, think time 1 us"
    plain = make_case()
    (row,) = make_rows(collect(plain, glibc=[1.0] * ROUNDS), [plain], [])
    assert not {"think_ns", "pinned"} & set(row.record())


def test_the_summary_has_a_column_for_short_pinned_think_times() -> None:
    cases = [
        make_case("think_time", threads=threads, think_ns=think_ns, pinned=pinned)
        for threads in (2, 8)
        for think_ns in (0, 100)
        for pinned in (True, False)
    ]
    rows = [make_rows(collect(case, glibc=[1.0]), [case], [])[0] for case in cases]
    columns = summary_columns(rows)
    assert [heading for heading, _ in columns] == ["think 2", "think 8"]
    assert [case.load for _, case in columns] == [
        "2 threads, pinned, think time 100 ns",
        "8 threads, pinned, think time 100 ns",
    ]
