# SPDX-License-Identifier: MIT
"""Slowdowns computed from rows of samples, their JSON form, and their limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from hasp.lab.bench import json_rows
from hasp.lab.bench.cases import Case
from hasp.lab.bench.overhead.cases import MODES, Overhead
from hasp.lab.bench.rows import Row
from hasp.statistics import Ratio

SCHEMA = "hasp.bench.profile/1"
NONE = "none"


@dataclass(frozen=True)
class Figure:
    """One case under one mode of profiling."""

    case: str
    threads: int
    summary: str
    profiling: str  # none, full, sample
    value: float | None
    unit: str
    slowdown: Ratio | None  # time with profiling over time without; None for `none`
    told: float | None  # the overhead that the profile reports, as a share of CPU time
    most: float | None  # the allowed slowdown
    runs: int
    outcome: str
    reason: str
    samples: tuple[float | None, ...]

    @property
    def met(self) -> bool | None:
        """Return true if the slowdown is within its limit; None without a limit."""
        if self.most is None or self.profiling == NONE:
            return None
        return self.slowdown is not None and self.slowdown.value <= self.most

    @property
    def clear(self) -> bool:
        """Return true if the interval excludes the limit."""
        if self.most is None or self.slowdown is None:
            return True
        low, high = self.slowdown.low, self.slowdown.high
        return low is not None and high is not None and not low <= self.most <= high

    def record(self) -> dict[str, Any]:
        """Return the figure as a JSON object."""
        slowdown = self.slowdown
        return {
            "schema": SCHEMA,
            "case": self.case,
            "threads": self.threads,
            "summary": self.summary,
            "profiling": self.profiling,
            "value": self.value,
            "unit": self.unit,
            "slowdown": slowdown.value if slowdown else None,
            "slowdown_low": slowdown.low if slowdown else None,
            "slowdown_high": slowdown.high if slowdown else None,
            "slowdown_most": self.most,
            "told_share": self.told,
            "runs": self.runs,
            "outcome": self.outcome,
            "reason": self.reason,
            "samples": list(self.samples),
        }


def figures_of(
    rows: Iterable[Row],
    overheads: Sequence[Overhead],
    told: Mapping[tuple[Case, str], Sequence[float]],
) -> list[Figure]:
    """Return a figure for each row, in the same order."""
    most_of = {overhead.case: overhead.most for overhead in overheads}
    figures = []
    for row in rows:
        profiled = row.lock in MODES
        shares = told.get((row.case, row.lock))
        figures.append(
            Figure(
                case=row.case.name,
                threads=row.case.threads,
                summary=row.case.summary,
                profiling=row.lock if profiled else NONE,
                value=row.value,
                unit=row.case.unit,
                slowdown=_slowdown(row) if profiled else None,
                told=median(shares) if shares else None,
                most=(most_of[row.case] or {}).get(row.lock),
                runs=row.runs,
                outcome=row.outcome,
                reason=row.reason,
                samples=row.samples,
            )
        )
    return figures


def _slowdown(row: Row) -> Ratio | None:
    ratio = row.ratio
    if ratio is None or row.case.lower_is_better or not ratio.value:
        return ratio

    def inverse(factor: float | None) -> float | None:
        return None if not factor else 1 / factor

    return Ratio(1 / ratio.value, inverse(ratio.high), inverse(ratio.low), ratio.blocks)


def load(path: Path) -> list[tuple[Figure, dict[str, Any]]]:
    """Return the figures of a file with their JSON objects; raise HaspError."""
    return json_rows.read(path, "profile", _figure_of)


def _figure_of(record: dict[str, Any]) -> Figure:
    if record["schema"] != SCHEMA:
        raise ValueError(f"schema {record['schema']}")
    slowdown = None
    if record["slowdown"] is not None:
        bounds = record["slowdown_low"], record["slowdown_high"]
        slowdown = Ratio(record["slowdown"], *bounds, record["runs"])
    return Figure(
        case=record["case"],
        threads=record["threads"],
        summary=record["summary"],
        profiling=record["profiling"],
        value=record["value"],
        unit=record["unit"],
        slowdown=slowdown,
        told=record["told_share"],
        most=record["slowdown_most"],
        runs=record["runs"],
        outcome=record["outcome"],
        reason=record["reason"],
        samples=tuple(record["samples"]),
    )
