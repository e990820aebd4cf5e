# SPDX-License-Identifier: MIT
"""Medians, ratios to the reference, verdicts and failures, from the runs."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hasp.compare import run_record as record
from hasp.compare.run_record import Measure
from hasp.compare.settings import Cell
from hasp.compare.store import Comparison
from hasp.locks.native import REFERENCE
from hasp.statistics import Ratio
from hasp.statistics.simultaneous import (
    FEWEST_ROUNDS,
    POWER,
    Contrast,
    contrasts,
    ratio_without_interval,
)

CANNOT_TELL = "cannot tell"
SAME = 0.03  # an interval that stays within 3 % of 1 is no difference
WORTH_FINDING = 0.05  # the power statement says how many runs find this difference


@dataclass(frozen=True)
class Estimate:
    """Summary of one cell's samples of one measure."""

    measure: Measure
    samples: tuple[float, ...]
    median: float | None
    ratio: Ratio | None  # None for the reference, and without runs of it to pair
    judged: bool = True  # whether the comparison gives verdicts on the measure
    contrast: Contrast | None = None

    @property
    def verdict(self) -> str:
        """better, worse, same or cannot tell, by the simultaneous interval.

        Empty for the reference and for measures that the comparison does not judge.
        """
        ratio = self.ratio
        if ratio is None or not self.judged:
            return ""
        if ratio.low is None or ratio.high is None:
            return CANNOT_TELL
        if ratio.low > 1 - SAME and ratio.high < 1 + SAME:
            return "same"
        if not ratio.above and not ratio.below:
            return CANNOT_TELL
        return "better" if ratio.below == self.measure.lower_is_better else "worse"


@dataclass(frozen=True)
class CellSummary:
    """Summary of one cell: an estimate for each measure, and its failures."""

    cell: Cell
    entries: tuple[Estimate, ...]
    attempts: int
    failures: dict[str, int]  # outcome -> how often
    detail: str  # of the last failure

    @property
    def measured(self) -> bool:
        """Return true if it has at least one successful run."""
        return any(entry.samples for entry in self.entries)

    @property
    def is_reference(self) -> bool:
        """Return true if this is the lock that the others are compared with."""
        return self.cell.lock == REFERENCE

    def entry(self, measure: Measure) -> Estimate:
        """Return the estimate of a measure."""
        return next(entry for entry in self.entries if entry.measure == measure)

    @property
    def trouble(self) -> str:
        """Its failures as text; empty if there are none."""
        if not self.failures:
            return ""
        words = {
            record.HUNG: "hung",
            record.FAILED: "failed",
            record.DIFFERENT: "different output",
            record.NO_FIGURE: "printed no figure",
            record.SERVER_FAILED: "server failed",
        }
        counts = ", ".join(
            f"{words.get(outcome, outcome)} in {count} of {self.attempts}"
            for outcome, count in self.failures.items()
        )
        runs = "run" if self.attempts == 1 else "runs"
        return f"{counts} {runs}: {self.detail}"


def summarise(comparison: Comparison) -> list[CellSummary]:
    """Return a row for each cell that was tried, in the order of the comparison."""
    tried = {run.cell for run in comparison.runs}
    entries = {
        (cell, measure): entry
        for measure in comparison.measures
        for threads in comparison.settings.threads
        for cell, entry in _entries(comparison, threads, measure).items()
    }
    return [
        _row(
            comparison,
            cell,
            tuple(entries[cell, measure] for measure in comparison.measures),
        )
        for cell in comparison.settings.cells
        if cell in tried
    ]


def family(comparison: Comparison) -> int:
    """The number of verdicts for which the intervals must hold simultaneously."""
    settings = comparison.settings
    return max(
        1, (len(settings.locks) - 1) * len(settings.threads) * len(comparison.judged)
    )


def samples_of(
    comparison: Comparison, cell: Cell, measure: Measure
) -> dict[int, float]:
    """Return the samples of a cell's successful runs, by the number of the round."""
    found = {}
    for run in comparison.runs:
        value = run.value(measure)
        if run.measured and run.cell == cell and value is not None:
            found[run.block] = value
    return found


def _row(
    comparison: Comparison, cell: Cell, entries: tuple[Estimate, ...]
) -> CellSummary:
    runs = [run for run in comparison.runs if run.cell == cell]
    failed = [run for run in runs if run.outcome != record.OK]
    return CellSummary(
        cell=cell,
        entries=entries,
        attempts=len(runs),
        failures=dict(Counter(run.outcome for run in failed)),
        detail=failed[-1].detail if failed else "",
    )


def _entries(
    comparison: Comparison, threads: int | None, measure: Measure
) -> dict[Cell, Estimate]:
    """Return the estimate for every lock of one measure at one number of threads."""
    cells = {lock: Cell(lock, threads) for lock in comparison.settings.locks}
    samples = {
        lock: samples_of(comparison, cell, measure) for lock, cell in cells.items()
    }
    known: dict[str, Contrast] = {}
    if measure in comparison.judged:
        positive = {lock: own for lock, own in samples.items() if _positive(own)}
        known = contrasts(positive, REFERENCE, family(comparison))
    found = {}
    for lock, own in samples.items():
        contrast, ratio = known.get(lock), None
        if contrast:
            ratio = contrast.ratio
        elif lock != REFERENCE:
            ratio = ratio_without_interval(own, samples[REFERENCE])
        median = statistics.median(own.values()) if own else None
        found[cells[lock]] = Estimate(
            measure,
            tuple(own.values()),
            median,
            ratio,
            measure in comparison.judged,
            contrast,
        )
    return found


def _positive(samples: dict[int, float]) -> bool:
    """True if there are samples and all are positive, so that they have logarithms."""
    return min(samples.values(), default=0) > 0


@dataclass(frozen=True)
class Power:
    """The smallest difference that the runs can find, for one measure."""

    measure: Measure
    runs: int  # of each lock
    verdicts: int  # of the comparison, which hold simultaneously
    detectable: float | None  # relative difference; None: too few runs for a verdict
    runs_needed: int | None  # to find WORTH_FINDING; None: more than can be run

    def as_json(self) -> dict[str, Any]:
        """Return one record."""
        return {
            "measure": self.measure.name,
            "runs": self.runs,
            "verdicts": self.verdicts,
            "probability": POWER,
            "detectable": self.detectable,
            "target": WORTH_FINDING,
            "runs_needed": self.runs_needed,
        }


def power(comparison: Comparison, rows: list[CellSummary]) -> list[Power]:
    """Return the power for each judged measure, for the lock with the median error."""
    found = []
    for measure in comparison.judged:
        known = [
            contrast
            for row in rows
            if (contrast := row.entry(measure).contrast) is not None
        ]
        if not known:
            continue
        middle = sorted(known, key=lambda one: one.error)[(len(known) - 1) // 2]
        found.append(
            Power(
                measure,
                middle.rounds,
                middle.family,
                middle.detectable if middle.rounds >= FEWEST_ROUNDS else None,
                middle.rounds_to_detect(WORTH_FINDING),
            )
        )
    return found


def as_json(rows: list[CellSummary]) -> list[dict[str, Any]]:
    """One record for each cell and measure, and one for each cell that failed."""
    records: list[dict[str, Any]] = []
    for row in rows:
        place = {"lock": row.cell.lock, "threads": row.cell.threads}
        if row.failures:
            records.append({**place, "failures": row.failures, "detail": row.detail})
        for entry in row.entries:
            if not entry.samples:
                continue
            ratio = entry.ratio
            records.append(
                {
                    **place,
                    "measure": entry.measure.name,
                    "unit": entry.measure.unit,
                    "lower_is_better": entry.measure.lower_is_better,
                    "runs": len(entry.samples),
                    "median": entry.median,
                    "ratio_to_glibc": ratio.value if ratio else None,
                    "ratio_low": ratio.low if ratio else None,
                    "ratio_high": ratio.high if ratio else None,
                    "verdict": "reference"
                    if row.is_reference
                    else entry.verdict or None,
                }
            )
    return records
