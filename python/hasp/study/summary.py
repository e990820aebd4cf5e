# SPDX-License-Identifier: MIT
"""What the runs of a study mean: medians, ratios to the reference, and failures."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hasp.native import REFERENCE
from hasp.statistics import Ratio, ratio_of_medians
from hasp.study import record
from hasp.study.plan import Cell
from hasp.study.record import Measure
from hasp.study.store import Study

CANNOT_TELL = "cannot tell"
SAME = 0.03  # an interval that stays within 3 % of 1 counts as no difference


@dataclass(frozen=True)
class Entry:
    """One cell's samples of one measure, summed up."""

    measure: Measure
    samples: tuple[float, ...]
    median: float | None
    ratio: Ratio | None  # None for the reference, and without runs of it to pair

    @property
    def verdict(self) -> str:
        """What the interval says: better, worse, same, or cannot tell."""
        ratio = self.ratio
        if ratio is None:
            return ""
        if ratio.low is None or ratio.high is None:
            return CANNOT_TELL
        if ratio.low > 1 - SAME and ratio.high < 1 + SAME:
            return "same"
        if not ratio.above and not ratio.below:
            return CANNOT_TELL
        return "better" if ratio.below == self.measure.lower_is_better else "worse"


@dataclass(frozen=True)
class Row:
    """One cell of the study: its entries, and how it failed if it did."""

    cell: Cell
    entries: tuple[Entry, ...]
    attempts: int
    failures: dict[str, int]  # outcome -> how often
    detail: str  # of the last failure

    @property
    def measured(self) -> bool:
        """Whether there is at least one good run to show."""
        return any(entry.samples for entry in self.entries)

    @property
    def is_reference(self) -> bool:
        """Whether the others are compared with it."""
        return self.cell.lock == REFERENCE

    def entry(self, measure: Measure) -> Entry:
        """Its entry for a measure."""
        return next(entry for entry in self.entries if entry.measure == measure)

    @property
    def trouble(self) -> str:
        """Its failures in words; empty without any."""
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


def summarise(study: Study) -> list[Row]:
    """A row per cell that was tried, in the order of the plan."""
    tried = {run.cell for run in study.runs}
    return [_row(study, cell) for cell in study.plan.cells if cell in tried]


def _samples(study: Study, cell: Cell, measure: Measure) -> dict[int, float]:
    """The good samples of a cell by the number of their block."""
    found = {}
    for run in study.runs:
        value = run.value(measure)
        if run.measured and run.cell == cell and value is not None:
            found[run.block] = value
    return found


def _row(study: Study, cell: Cell) -> Row:
    runs = [run for run in study.runs if run.cell == cell]
    failed = [run for run in runs if run.outcome != record.OK]
    return Row(
        cell=cell,
        entries=tuple(_entry(study, cell, measure) for measure in study.measures),
        attempts=len(runs),
        failures=dict(Counter(run.outcome for run in failed)),
        detail=failed[-1].detail if failed else "",
    )


def _entry(study: Study, cell: Cell, measure: Measure) -> Entry:
    own = _samples(study, cell, measure)
    median = statistics.median(own.values()) if own else None
    ratio = None
    if cell.lock != REFERENCE and own:
        reference = _samples(study, Cell(REFERENCE, cell.threads), measure)
        blocks = sorted(own.keys() & reference.keys())
        if blocks:
            ratio = ratio_of_medians(
                [own[block] for block in blocks], [reference[block] for block in blocks]
            )
    return Entry(measure, tuple(own.values()), median, ratio)


def as_json(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows as records, one per cell and measure, and one per cell that failed."""
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
                    "verdict": entry.verdict or "reference",
                }
            )
    return records
