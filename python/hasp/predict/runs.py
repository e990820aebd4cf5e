# SPDX-License-Identifier: MIT
"""Simulations of a load: under each lock, with each number of threads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.lab.simulate import placement
from hasp.lab.simulate.job import ENGINE, OK, PUBLISHED_ENGINE, Job, Record
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.pool import Pool, PoolDisplay
from hasp.locks.kinds import MUTEX
from hasp.predict.changes import SiteChange, applied, visits_per_section
from hasp.predict.load import (
    PLAIN,
    Load,
    Role,
    Scheme,
    Variant,
    described,
    threads_by_role,
)
from hasp.profile.report.words import plural

WORKLOAD = "replay"
PUBLISHED_RWLOCK = "glibc"  # the only one in its published form
SECTIONS = 4000  # simulated in a run, of all workers
SECTIONS_EACH = 12  # of each worker, if they never wait
LEAST_NS, MOST_NS = 200_000, 4_000_000_000  # of a run
MEETINGS = 50  # of all threads, simulated in a run if they take the time below
MEETING_NS = 200  # for each thread
SLICES = 8  # time slices of each thread in a run, if threads share CPUs
FILE_NUMBERS = count()
LINES = (1, 8)  # fewest and most cache lines that a section writes


@dataclass(frozen=True)
class Case:
    """One simulation; the load may be changed."""

    lock: str
    workers: int
    variant: Variant
    change: SiteChange | None = None
    scheme: Scheme = PLAIN


@dataclass(frozen=True)
class SiteOutcome:
    """The sections of one site in a simulation.

    Time in aborted transactions counts as acquiring, that of a commit as releasing.
    """

    sections: int
    held_ns: float  # mean
    taken: float  # share of the threads' time to acquire and release it
    elided: int  # of the sections
    # The transactions of its outermost sections: all, and by what ended them:
    # committed, conflict, capacity, busy, trylock, other.
    begun: int
    ends: Mapping[str, int]


@dataclass(frozen=True)
class Outcome:
    """The figures of one simulation."""

    throughput: float  # outermost sections of the workers per ns
    busy: tuple[float, ...]  # by site: time in which its busiest lock is not free
    waiting: tuple[float, ...]  # by site: share of the threads' time
    sites: tuple[SiteOutcome, ...] = ()


def variants(seeds: int) -> list[Variant]:
    """Return the values of the open parameters, each with seeds of its own."""
    kinds = [(varies, lines) for varies in (True, False) for lines in LINES]
    return [
        Variant(varies, lines, 1 + at + len(kinds) * number)
        for number in range(seeds)
        for at, (varies, lines) in enumerate(kinds)
    ]


class Runs:
    """Carries out simulations, each only once; their files are beside the machine's."""

    def __init__(
        self,
        load: Load,
        machine: Machine,
        machine_file: str,
        rwlock: str | None = None,
        longer: int = 1,
        engine: str = ENGINE,
    ) -> None:
        """`longer` multiplies the length of each run, for rare sections."""
        self.load = load
        self.longer = longer
        self.machine = machine
        self.rwlock = rwlock
        self.engine = engine
        self.done: dict[Case, Outcome] = {}
        self._asked = 0  # simulations, in all calls of run() until now
        self._machine_file = machine_file
        self._folder = Path(machine_file).parent
        self._files: dict[tuple[int, Variant, SiteChange | None, Scheme], str] = {}

    def of(self, load: Load) -> Runs:
        """Return simulations of another load on the same machine."""
        return Runs(
            load,
            self.machine,
            self._machine_file,
            self.rwlock,
            self.longer,
            self.engine,
        )

    def of_published(self) -> Runs:
        """Return simulations of the locks in their published form."""
        return Runs(
            self.load,
            self.machine,
            self._machine_file,
            PUBLISHED_RWLOCK,
            self.longer,
            PUBLISHED_ENGINE,
        )

    @property
    def progress(self) -> str:
        """How many simulations are done, in words; later questions may add more."""
        return f"{len(self.done)} of at least {plural(self._asked, 'simulation')}"

    def run(self, cases: Iterable[Case], width: int | None) -> dict[Case, Outcome]:
        """Return the outcome of each case; up to `width` run at the same time.

        Raises HaspError if a lock fails. After Ctrl-C, `done` has what was finished.
        """
        wanted = list(dict.fromkeys(cases))
        missing = [case for case in wanted if case not in self.done]
        missing.sort(key=lambda case: -case.workers)
        self._asked += len(missing)
        pool = Pool(width)
        try:
            waiting = {pool.submit(self._job(case)): case for case in missing}
            with PoolDisplay(sum(case.workers for case in missing)) as progress:
                for future in as_completed(waiting):
                    case = waiting[future]
                    self.done[case] = self._outcome(case, future.result())
                    words = f"{case.lock}, {case.workers} threads"
                    progress.add(case.workers, words)
        finally:
            pool.stop()
        return {case: self.done[case] for case in wanted}

    @cached_property
    def _cpus(self) -> int:
        return self.machine.topology.cpus

    @cached_property
    def _slice_ns(self) -> int:
        return 1000 * self.machine.figures["scheduler", "slice_us"]

    def _job(self, case: Case) -> Job:
        load = self._load(case.change)
        threads = case.workers + load.others
        length = min(self.longer * duration_ns(load, case.workers), MOST_NS)
        cpus = None
        if threads <= self._cpus:
            cpus = tuple(
                placement.cpus(
                    self.machine, threads, placement.DEFAULT, case.variant.seed
                )
            )
        else:  # the simulated scheduler lets them share CPUs
            length = max(length, SLICES * self._slice_ns * -(-threads // self._cpus))
        return Job(
            machine=self._machine_file,
            workload=WORKLOAD,
            lock=case.lock if self.load.kind is MUTEX else None,
            threads=threads,
            cpus=cpus,
            seed=case.variant.seed,
            warm_up_ns=length // 3,
            duration_ns=length,
            engine=self.engine,
            load=self._file(load, case),
            rwlock=self.rwlock if self.load.kind is MUTEX else case.lock,
        )

    def _load(self, change: SiteChange | None) -> Load:
        return applied(self.load, change) if change else self.load

    def _file(self, load: Load, case: Case) -> str:
        key = (case.workers, case.variant, case.change, case.scheme)
        if key not in self._files:
            path = self._folder / f"{next(FILE_NUMBERS)}.load"
            path.write_text(described(load, case.workers, case.variant, case.scheme))
            self._files[key] = str(path)
        return self._files[key]

    def _outcome(self, case: Case, record: Record) -> Outcome:
        if record["outcome"] != OK:
            raise HaspError(
                f"{case.lock}, {case.workers} threads: the simulation failed",
                str(record.get("detail", "")),
            )
        load = self._load(case.change)
        measured = record["measured_ns"]
        threads = sum(threads_by_role(load, case.workers))
        sites: Sequence[dict[str, Any]] = record["sites"]
        return Outcome(
            record["operations"] / measured,
            tuple(site["busiest_ns"] / measured for site in sites),
            tuple(site["waited_ns"] / measured / threads for site in sites),
            tuple(_site_outcome(site, threads * measured) for site in sites),
        )


ENDS = ("committed", "conflict", "capacity", "busy", "trylock", "other")


def _site_outcome(record: dict[str, Any], whole_ns: float) -> SiteOutcome:
    sections = record["acquisitions"]
    return SiteOutcome(
        sections,
        record["held_ns"] / sections if sections else 0.0,
        (record["waited_ns"] + record["releasing_ns"]) / whole_ns,
        record["elided"],
        record["begun"],
        {end: record[end] for end in ENDS},
    )


def _fed_every_ns(load: Load, role: Role) -> float:
    """Return the time in which producers put the items of one of its sections."""
    longest = 0.0
    for at in role.takes:
        items = 0.0
        for other in load.roles:
            numbers = visits_per_section(load, other)
            held = sum(n * ns for n, ns in zip(numbers, other.holds_ns, strict=True))
            section_ns = max(1.0, other.gap_ns + other.idle_ns + held)
            put = numbers[at] * dict(other.puts).get(at, 0.0)
            items += other.recorded * put / section_ns
        longest = max(longest, dict(role.visits)[at] / items) if items else longest
    return longest


def duration_ns(load: Load, workers: int) -> int:
    """Return a time in which enough sections end, if threads never wait or always."""
    each = longest = 1.0
    for role in (role for role in load.roles if role.scales):
        numbers = visits_per_section(load, role)
        held = [n * ns for n, ns in zip(numbers, role.holds_ns, strict=True)]
        each = max(each, role.gap_ns + role.idle_ns + sum(held))
        each = max(each, workers * _fed_every_ns(load, role))
        longest = max(longest, *held)
    needed = max(SECTIONS * max(longest, each / workers), SECTIONS_EACH * each)
    if any(site.meets for site in load.sites):
        needed = max(needed, MEETINGS * (each + workers * MEETING_NS))
    return round(min(max(needed, LEAST_NS), MOST_NS))
