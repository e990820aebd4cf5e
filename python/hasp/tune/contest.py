# SPDX-License-Identifier: MIT
"""A race of candidates on a program: the runs so far, and the conclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hasp.compare import run_record as record
from hasp.compare.run import FAILURES_UNTIL_GIVEN_UP
from hasp.compare.run_record import Run
from hasp.compare.settings import Cell
from hasp.compare.store import Comparison
from hasp.locks.native import REFERENCE
from hasp.locks.site_plan.model import SitePlan
from hasp.statistics.race import TOLERANCE, Race
from hasp.tune.objective import Objective
from hasp.tune.requirement import Requirement
from hasp.tune.similarity import similarity
from hasp.tune.site_plans import MOST_PLANS


class Contest:
    """The candidates of a race and its state."""

    def __init__(
        self,
        comparison: Comparison,
        objective: Objective,
        requirements: Sequence[Requirement] = (),
        *,
        favourites: Sequence[str] = (),
        threads_seen: int = 0,
        room_for_plans: bool = False,
        tolerance: float = TOLERANCE,
    ) -> None:
        """`favourites` are locks that run in the first round, besides the reference.

        `threads_seen` is the number of threads of the recorded run: spinning locks
        come last when there are more threads than CPUs.
        """
        self.comparison = comparison
        self.objective = objective
        self.requirements = tuple(requirements)
        self.tolerance = tolerance
        self.plans: dict[str, SitePlan] = {}
        self.cells = comparison.settings.cells
        self.reasons: dict[Cell, str] = {}  # of candidates that are out of the race
        self._failures: Counter[Cell] = Counter()
        most = max(comparison.settings.threads, key=lambda count: count or 0)
        first = [cell for cell in self.cells if cell.lock == REFERENCE]
        first += [Cell(name, most) for name in favourites]
        threads = len(comparison.settings.threads)
        more = MOST_PLANS * threads if room_for_plans else 0
        self.race = Race(
            similarity(self.cells, {}),
            reference=self.cells.index(Cell(REFERENCE, most)),
            first=[self.cells.index(one) for one in first if one in self.cells],
            late=[
                which
                for which, cell in enumerate(self.cells)
                if comparison.collapses(cell.lock) and self._crowded(cell, threads_seen)
            ],
            tolerance=tolerance,
            family=max(1, len(self.cells) - 1 + more),
        )

    def _crowded(self, cell: Cell, threads_seen: int) -> bool:
        return (cell.threads or threads_seen) > self.comparison.cpus

    @property
    def leader(self) -> Cell | None:
        """The best candidate so far."""
        return None if self.race.leader is None else self.cells[self.race.leader]

    @property
    def racing(self) -> list[Cell]:
        """The candidates that are neither proven worse nor out."""
        return [self.cells[which] for which in self.race.racing]

    def next_round(self) -> list[Cell]:
        """Return the cells to run next; empty if nothing is left to prove."""
        if self.leader is not None:
            reference = Cell(REFERENCE, self.leader.threads)
            self.race.reference = self.cells.index(reference)
        return [self.cells[which] for which in self.race.next_round()]

    def runs_of(self, cell: Cell) -> list[Run]:
        """Return the measured runs of a candidate."""
        return [
            run for run in self.comparison.runs if run.cell == cell and run.measured
        ]

    def leading_locks(self, threads: int | None) -> list[str]:
        """Return the locks at a number of threads that have run, the best first."""
        places = self.race.places()
        order = [
            (place.gap, cell.lock)
            for place, cell in zip(places, self.cells, strict=True)
            if cell.threads == threads
            and cell.lock not in self.plans
            and cell not in self.reasons
            and place.gap is not None
        ]
        return [lock for _, lock in sorted(order, key=lambda pair: -pair[0])]

    def join(self, plans: Sequence[SitePlan]) -> None:
        """Add plans as candidates, at every number of threads."""
        for plan in plans:
            self.plans[plan.name] = plan
        threads = self.comparison.settings.threads
        self.cells = [
            *self.cells,
            *(Cell(plan.name, count) for count in threads for plan in plans),
        ]
        self.race.join(similarity(self.cells, self.plans))

    def record(self, runs: Sequence[Run]) -> None:
        """Add the runs of a round, in the order in which they ended."""
        self.comparison.runs += runs
        values = {}
        for run in runs:
            score = self.objective.score(run) if run.outcome == record.OK else None
            if run.outcome == record.OK and score is not None:
                values[self.cells.index(run.cell)] = score
            else:
                self._failed(run)
        self.race.record(values)
        for cell in {run.cell for run in runs}:
            self._require(cell)

    def _failed(self, run: Run) -> None:
        """Exclude a candidate that failed too often: a spinning lock after once."""
        self._failures[run.cell] += 1
        spins = self.comparison.collapses(run.lock)
        if self._failures[run.cell] >= (1 if spins else FAILURES_UNTIL_GIVEN_UP):
            words = f"{run.outcome}: {run.detail}"
            if run.outcome == record.OK:
                words = f"{self.objective.measure.name} is missing or not positive"
            self._exclude(run.cell, words)

    def _require(self, cell: Cell) -> None:
        for requirement in self.requirements:
            if requirement.broken(self.runs_of(cell)):
                self._exclude(cell, f"not {requirement.words}")

    def _exclude(self, cell: Cell, why: str) -> None:
        self.reasons.setdefault(cell, why)
        self.race.exclude(self.cells.index(cell))
