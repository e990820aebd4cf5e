# SPDX-License-Identifier: MIT
"""The answer: throughput, the lock that saturates first, and what helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median, median_low

from hasp.predict.changes import SiteChange
from hasp.predict.load import Load, Variant
from hasp.predict.pace import NOT_COMPARED, Pace
from hasp.predict.runs import Case, Outcome, Runs
from hasp.predict.saturation import SATURATED, Saturation, saturation
from hasp.profile.diagnosis.what_if.change import Change, What

BETTER = 1.05  # an algorithm is better if it is by this factor in all simulations
SPLIT = 4  # locks that a suggested change makes of one
# Changes of the lock that saturates first.
SUGGESTED = ((What.HOLD, 0.5), (What.SPLIT, float(SPLIT)))


@dataclass(frozen=True)
class Range:
    """The median of several simulations, and their range."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Range:
        """Return the range of these values."""
        return Range(median(values), min(values), max(values))

    def as_json(self) -> dict[str, float]:
        """Return an object of `median`, `low` and `high`."""
        return asdict(self)


@dataclass(frozen=True)
class Curve:
    """The throughput under one lock, by threads, as a multiple of the recorded one."""

    lock: str
    points: dict[int, Range]


@dataclass(frozen=True)
class Gain:
    """The throughput after a change, as a multiple of that without it, by threads."""

    change: SiteChange
    lock: str
    points: dict[int, Range]
    limit: str | None  # the site that is then saturated with the most threads
    # of a suggested split, or a change of the user's: what saturates first after it
    then: Saturation | None = None


@dataclass
class Answer:
    """All results; what was not simulated before an interruption is missing."""

    load: Load
    reference: str  # the lock of the recording, or the one with its algorithm
    threads: Sequence[int]
    cpus: int
    rate: float  # recorded outermost sections of the workers per second
    curves: list[Curve] = field(default_factory=list)
    saturated: Saturation | None = None
    best: str | None = None  # the lock with the highest median at the most threads
    advantage: Range | None = None  # of the best over the reference
    gains: list[Gain] = field(default_factory=list)
    # under the reference, by threads: how long each site's busiest lock is not free
    busy: dict[int, tuple[Range, ...]] = field(default_factory=dict)
    # throughput with the recorded number of threads that compute as fast as recorded
    baseline: Range | None = None
    pace: Pace = NOT_COMPARED
    kernel_share: float | None = None  # of the recorded computing; None: not known
    simulations: int = 0

    def curve(self, lock: str) -> Curve | None:
        """Return the curve of a lock; None before it is simulated."""
        return next((curve for curve in self.curves if curve.lock == lock), None)

    @property
    def is_better(self) -> bool:
        """Return true if the best lock is better in every simulation."""
        return self.advantage is not None and self.advantage.low >= BETTER


class Analysis:
    """Fills an answer step by step, so that an interruption leaves what is known."""

    def __init__(
        self,
        runs: Runs,
        answer: Answer,
        variants: Sequence[Variant],
        jobs: int | None,
        as_recorded: Runs | None = None,
    ) -> None:
        """`as_recorded` simulates threads that compute as fast as recorded."""
        self.answer = answer
        self._runs = runs
        self._as_recorded = as_recorded or runs
        self._variants = variants
        self._jobs = jobs

    def baseline(self) -> None:
        """Simulate the recorded number of threads, if the machine has the CPUs."""
        answer = self.answer
        count = answer.load.workers
        if count > answer.cpus:
            return  # even if the locks are right, threads wait for CPUs
        cases = [Case(answer.reference, count, v) for v in self._variants]
        done = self._as_recorded.run(cases, self._jobs)
        answer.simulations = self._simulations
        rates = [one.throughput / answer.load.rate for one in done.values()]
        answer.baseline = Range.of(rates)

    def curves(self, locks: Sequence[str]) -> None:
        """Simulate every lock with every number of threads."""
        answer, threads = self.answer, self.answer.threads
        cases = [
            Case(lock, count, variant)
            for lock in locks
            for count in threads
            for variant in self._variants
        ]
        done = self._run(cases)
        recorded = answer.load.rate
        answer.curves = [
            Curve(
                lock,
                {
                    count: Range.of(
                        [
                            done[Case(lock, count, variant)].throughput / recorded
                            for variant in self._variants
                        ]
                    )
                    for count in threads
                },
            )
            for lock in locks
        ]
        self._find_best(done)
        sites = range(len(answer.load.sites))
        for count in threads:
            cases = [Case(answer.reference, count, v) for v in self._variants]
            answer.busy[count] = tuple(
                Range.of([min(1.0, done[case].busy[site]) for case in cases])
                for site in sites
            )

    def _find_best(self, done: dict[Case, Outcome]) -> None:
        answer, most = self.answer, self.answer.threads[-1]
        answer.best = max(
            answer.curves, key=lambda curve: curve.points[most].median
        ).lock
        pairs = [
            (Case(answer.best, most, v), Case(answer.reference, most, v))
            for v in self._variants
        ]
        ratios = [
            done[one].throughput / max(done[other].throughput, 1e-12)
            for one, other in pairs
        ]
        answer.advantage = Range.of(ratios)

    def saturation(self) -> None:
        """Find the lock that saturates first, and with how many threads."""
        self.answer.saturated = self._saturation(self.answer.reference)

    def _saturation(self, lock: str, change: SiteChange | None = None) -> Saturation:
        return saturation(
            self.answer.load,
            self.answer.threads,
            self._variants,
            lambda cases: self._run([Case(lock, n, v, change) for n, v in cases]),
        )

    def gains(self, changes: Sequence[SiteChange]) -> None:
        """Simulate each change, and suggested ones, with the reference lock."""
        for change in dict.fromkeys([*self._suggested(), *changes]):
            searched = change.change.what is What.SPLIT or change in changes
            self._gain(change, self.answer.reference, searched)

    def _suggested(self) -> list[SiteChange]:
        """Return changes of the lock that saturates first."""
        first = self.answer.saturated
        if first is None or first.threads is None:
            return []
        site = self.answer.load.sites[first.site]
        return [
            SiteChange(site.number, site.name, Change(site.name, what, value))
            for what, value in SUGGESTED
        ]

    def _gain(self, change: SiteChange, lock: str, searched: bool) -> None:
        threads = self.answer.threads
        before = [Case(lock, n, v) for n in threads for v in self._variants]
        after = [Case(lock, n, v, change) for n in threads for v in self._variants]
        done = self._run([*before, *after])
        points = {}
        for count in threads:
            ratios = [
                done[Case(lock, count, variant, change)].throughput
                / max(done[Case(lock, count, variant)].throughput, 1e-12)
                for variant in self._variants
            ]
            points[count] = Range.of(ratios)
        at_most = [done[Case(lock, threads[-1], v, change)] for v in self._variants]
        then = self._saturation(lock, change) if searched else None
        limit = self._limit(at_most)
        self.answer.gains.append(Gain(change, lock, points, limit, then))

    def _limit(self, outcomes: Sequence[Outcome]) -> str | None:
        """Return the busiest site if it is saturated in most simulations."""
        sites = self.answer.load.sites
        busy = [
            median_low([one.busy[at] for one in outcomes]) for at in range(len(sites))
        ]
        busiest = max(range(len(sites)), key=busy.__getitem__)
        return sites[busiest].name if busy[busiest] >= SATURATED else None

    def _run(self, cases: Sequence[Case]) -> dict[Case, Outcome]:
        done = self._runs.run(cases, self._jobs)
        self.answer.simulations = self._simulations
        return done

    @property
    def _simulations(self) -> int:
        both = {id(one): one for one in (self._runs, self._as_recorded)}
        return sum(len(one.done) for one in both.values())
