# SPDX-License-Identifier: MIT
"""What docs/studies/two-cpus measured, with predictions to be compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hasp.predict.validation.score import Figures, tau_of
from hasp.statistics.ceiling import ceiling_of

if TYPE_CHECKING:
    import polars

STUDY = Path("docs/studies/two-cpus")  # in the source tree
STORE = STUDY / "store"
METRIC, THREADS = "throughput", 2


class Measured:
    """The measurements of the study."""

    def __init__(self) -> None:
        samples = _samples()
        self.figures = _means(samples)
        self._halves = [_means(samples, number) for number in (0, 1)]
        self.runs = _runs(samples)

    def repeated(self, program: str) -> float | None:
        """Return the tau of its runs among themselves; None if it has too few."""
        if not all(program in half for half in self._halves):
            return None
        even, odd = (half[program] for half in self._halves)
        return tau_of(even, odd)

    def ceiling(self, program: str) -> float | None:
        """Return the tau that a perfect prediction would have; None if unknown."""
        return ceiling_of(list(self.runs.get(program, {}).values()))


def _samples() -> polars.DataFrame:
    """Return the throughputs with two threads."""
    import polars  # Imported here because it takes long to load.

    frames = [polars.read_parquet(path) for path in STORE.glob("samples/*.parquet")]
    return polars.concat(frames).filter(
        (polars.col("metric") == METRIC) & (polars.col("size") == THREADS)
    )


def _means(samples: polars.DataFrame, runs: int | None = None) -> dict[str, Figures]:
    """Return the mean throughput by program and lock.

    With `runs`, these are the means of the runs of even (0) or odd (1) number.
    """
    import polars

    rows: polars.DataFrame = (
        samples.filter(runs is None or polars.col("run") % 2 == runs)
        .group_by("program", "lock")
        .agg(polars.col("value").mean())
        .sort("program", "lock")
    )
    found: dict[str, dict[str, float]] = {}
    for row in rows.iter_rows(named=True):
        found.setdefault(row["program"], {})[row["lock"]] = row["value"]
    return {program: dict(figures) for program, figures in found.items()}


def _runs(samples: polars.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Return the throughputs of all runs by program and lock."""
    import polars

    rows = (
        samples.sort("program", "lock", "run")
        .group_by("program", "lock", maintain_order=True)
        .agg(polars.col("value"))
    )
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows.iter_rows(named=True):
        found.setdefault(row["program"], {})[row["lock"]] = row["value"]
    return found
