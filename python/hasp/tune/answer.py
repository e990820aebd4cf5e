# SPDX-License-Identifier: MIT
"""The result of a race: a row for each candidate, and what is proven of the best."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass
from typing import Any

from hasp.compare.run_record import Measure
from hasp.compare.settings import Cell
from hasp.locks.native import REFERENCE
from hasp.statistics import Ratio
from hasp.statistics.race import OUT, WORSE, Place
from hasp.tune.carry_out import PROVEN, Outcome
from hasp.tune.contest import Contest

SCHEMA = "hasp.tune/1"
BEST, OPEN, CLOSE, BEHIND = "best", "open", "not better", "worse"
FAILED, NOT_RUN = "out", "not run"
ORDER = (BEST, CLOSE, OPEN, BEHIND, NOT_RUN, FAILED)


@dataclass(frozen=True)
class Row:
    """A candidate: its medians, and its factor to the best (1.1: 10 % better)."""

    cell: Cell
    runs: int
    medians: dict[str, float]  # of each measure, by its name
    to_best: Ratio | None
    standing: str
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return one record."""
        return {
            "lock": self.cell.lock,
            "threads": self.cell.threads,
            "runs": self.runs,
            "medians": self.medians,
            "to_best": asdict(self.to_best) if self.to_best else None,
            "standing": self.standing,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Answer:
    """The result of a race."""

    outcome: Outcome
    rows: tuple[Row, ...]  # the best first
    best: Row | None
    to_reference: Ratio | None  # factor by which the best is better; None if it is it
    proven: bool
    at_most: float  # how much better another candidate may be; infinite if unbounded

    @property
    def contest(self) -> Contest:
        """The race."""
        return self.outcome.contest

    @property
    def open_rows(self) -> list[Row]:
        """The candidates that could still be better by more than the tolerance."""
        return [row for row in self.rows if row.standing in (OPEN, NOT_RUN)]

    @property
    def keeps_reference(self) -> bool:
        """Return true if nothing is proven to be better than the program as it is."""
        ratio = self.to_reference
        return ratio is None or not ratio.above

    def as_json(self) -> list[dict[str, Any]]:
        """Return the result and then a record for each candidate."""
        outcome, best = self.outcome, self.best
        result = {
            "schema": SCHEMA,
            "kind": "result",
            "command": list(self.contest.comparison.settings.command),
            "objective": self.contest.objective.measure.name,
            "ended": outcome.ended,
            "seconds": round(outcome.seconds, 3),
            "runs": len(self.contest.comparison.runs),
            "candidates": len(self.rows),
            "best": best.cell.lock if best else None,
            "threads": best.cell.threads if best else None,
            "to_glibc": asdict(self.to_reference) if self.to_reference else None,
            "proven": self.proven,
            "tolerance": self.contest.tolerance,
            "at_most": self.at_most,
            "open": len(self.open_rows),
            "requirements": [item.words for item in self.contest.requirements],
            "verdict": outcome.verdict,
        }
        rows = [
            {"schema": SCHEMA, "kind": "candidate", **row.as_json()}
            for row in self.rows
        ]
        return [result, *rows]


def answer_of(outcome: Outcome) -> Answer:
    """Return the answer of a race that has ended."""
    contest = outcome.contest
    leader = contest.leader
    measures = measures_of(contest)
    rows = [
        _row(contest, cell, place, measures)
        for cell, place in zip(contest.cells, contest.race.places(), strict=True)
    ]
    rows.sort(key=_rank)
    best = next((row for row in rows if row.standing == BEST), None)
    return Answer(
        outcome=outcome,
        rows=tuple(rows),
        best=best,
        to_reference=_to_reference(rows, leader),
        proven=outcome.ended == PROVEN or contest.race.proven,
        at_most=contest.race.behind_by,
    )


def measures_of(contest: Contest) -> list[Measure]:
    """Return the measures to show: the objective, metrics, and what is required."""
    found = [contest.objective.measure]
    if contest.comparison.settings.metrics:
        found += contest.comparison.judged
    found += [requirement.measure for requirement in contest.requirements]
    return list(dict.fromkeys(found))


def _row(contest: Contest, cell: Cell, place: Place, measures: list[Measure]) -> Row:
    runs = contest.runs_of(cell)
    medians = {}
    for measure in measures:
        values = [value for run in runs if (value := run.value(measure)) is not None]
        if values:
            medians[measure.name] = statistics.median(values)
    ratio = None
    if place.gap is not None:
        low = math.exp(place.low) if place.low > -math.inf else None
        high = math.exp(place.high) if place.high < 700 else None
        ratio = Ratio(math.exp(place.gap), low, high, place.shared)
    is_leader = cell == contest.leader
    return Row(
        cell,
        place.runs,
        medians,
        None if is_leader else ratio,
        BEST if is_leader else _standing(contest, place),
        contest.reasons.get(cell, ""),
    )


def _standing(contest: Contest, place: Place) -> str:
    if place.dropped == OUT:
        return FAILED
    if place.dropped == WORSE:
        return BEHIND
    if not place.runs:
        return NOT_RUN
    return CLOSE if place.high <= math.log1p(contest.tolerance) else OPEN


def _rank(row: Row) -> tuple[int, float]:
    order = ORDER.index(row.standing)
    if row.standing in (CLOSE, OPEN, BEHIND):
        order = ORDER.index(CLOSE)
    return order, -(row.to_best.value if row.to_best else 0.0)


def _to_reference(rows: list[Row], leader: Cell | None) -> Ratio | None:
    """The factor by which the best beats glibc at the same number of threads."""
    if leader is None:
        return None
    for row in rows:
        same = row.cell.threads == leader.threads
        if row.cell.lock != REFERENCE or not same or row.to_best is None:
            continue
        found = row.to_best
        low = 1 / found.high if found.high else None
        high = 1 / found.low if found.low else None
        return Ratio(1 / found.value, low, high, found.blocks)
    return None
