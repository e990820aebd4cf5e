# SPDX-License-Identifier: MIT
"""All numbers in the report about one machine and metric.

The page, figures, Markdown and LaTeX only arrange them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from hasp.locks.native import REFERENCE
from hasp.statistics import sensitivity, standing, superiority
from hasp.statistics.collapse import collapsed
from hasp.statistics.contest import CANNOT_TELL, Standing, contest
from hasp.statistics.grid import POINTS, Array, Flags, Grid
from hasp.study.grids import grid_of, spread_of

if TYPE_CHECKING:
    import polars

# Throughput comes first, as in the lock study; other metrics follow.
REFERENCES = (REFERENCE, "pthread")  # Hasp's name of the reference, and LiTL's
FIRST_METRIC = "throughput"


@dataclass(frozen=True)
class Summary:
    """Results for one machine and metric; arrays are in the order of the grid."""

    machine: str
    size_unit: str
    metric: str
    inverted: bool  # lower values are better, so the grid contains 1 / mean
    runs: int
    grid: Grid
    spread: (
        Array  # half the 95 % interval of each mean as a share of it; NaN with one run
    )
    sensitive: Flags
    gain: dict[str, Array]  # by point of view: best over worst, for each program
    deviation: Array  # over the locks at the largest size
    coverage: dict[str, Array]  # percentage of the sensitive programs of each lock
    harmful: dict[str, Array]
    superiority: dict[str, Array]  # [a, b], at max and opt
    collapsed: Flags  # (programs, locks)
    contests: list[dict[str, Standing]]  # of each program, at its largest size

    @property
    def reference(self) -> str | None:
        """The name of glibc's lock, which every program has; None if not measured."""
        return next((name for name in REFERENCES if name in self.grid.locks), None)

    @property
    def cannot_tell(self) -> float:
        """The share of "cannot tell" among the verdicts, without the best locks."""
        verdicts = [one.verdict for found in self.contests for one in found.values()]
        others = max(1, len(verdicts) - len(self.contests))
        return verdicts.count(CANNOT_TELL) / others


def summarise(
    samples: polars.DataFrame,
    machine: str,
    metric: str,
    size_unit: str,
    *,
    inverted: bool = False,
) -> Summary:
    """The summary of a store's samples; `inverted` means that lower is better."""
    import polars

    grid = grid_of(samples, machine, metric, inverted=inverted)
    spread = spread_of(samples, machine, metric, grid)
    if inverted:
        samples = samples.filter(
            (polars.col("metric") == metric) & (polars.col("value") > 0)
        ).with_columns((1.0 / polars.col("value")).alias("value"))
    flags = sensitivity.sensitive(grid)
    names = [name for name, flag in zip(grid.programs, flags, strict=True) if flag]
    chosen = grid.only(names)
    at_max = grid.at("max")
    runs, contests = _contests(samples, machine, metric, grid)
    return Summary(
        machine=machine,
        size_unit=size_unit,
        metric=metric,
        inverted=inverted,
        runs=runs,
        grid=grid,
        spread=spread,
        sensitive=flags,
        gain={
            point: sensitivity.gain_of_best_over_worst(grid.at(point))
            for point in POINTS
        },
        deviation=sensitivity.relative_deviation(at_max),
        coverage={point: standing.coverage(chosen.at(point)) for point in POINTS},
        harmful={point: standing.harmful(chosen.at(point)) for point in POINTS},
        superiority={
            point: superiority.superiority(chosen.at(point)) for point in ("max", "opt")
        },
        collapsed=collapsed(grid),
        contests=contests,
    )


def _contests(
    samples: polars.DataFrame, machine: str, metric: str, grid: Grid
) -> tuple[int, list[dict[str, Standing]]]:
    """The number of runs, and the contest of each program at its largest size."""
    import polars

    ours = samples.filter(
        (polars.col("machine") == machine) & (polars.col("metric") == metric)
    )
    largest = ours.group_by("program").agg(polars.col("size").max())
    runs: dict[str, dict[str, list[float]]] = {}
    lists = (
        ours.join(largest, on=["program", "size"])
        .group_by("program", "lock")
        .agg(polars.col("value").sort())
        .sort("program", "lock")
    )
    for program, lock, values in lists.iter_rows():
        runs.setdefault(program, {})[lock] = values
    return len(ours), [contest(runs[program]) for program in grid.programs]


def metrics_of(samples: polars.DataFrame, machine: str) -> list[str]:
    """Return the metrics of a machine, throughput first."""
    import polars

    found = samples.filter(polars.col("machine") == machine)["metric"].unique()
    return sorted(found.to_list(), key=lambda name: (name != FIRST_METRIC, name))


def best_locks(summary: Summary, program: int) -> list[str]:
    """Return the locks that may be the best at the largest size, by descending mean."""
    found = summary.contests[program]
    good = [lock for lock, one in found.items() if one.verdict in ("best", "same")]
    return sorted(good, key=lambda lock: -found[lock].ratio)


def ranking(values: Array) -> list[int]:
    """Indices from the largest value to the smallest, without NaN."""
    known = numpy.flatnonzero(~numpy.isnan(values))
    return [int(index) for index in known[numpy.argsort(-values[known], kind="stable")]]


def stem(summary: Summary) -> str:
    """Return the beginning of its file names."""
    return f"{summary.machine}-{summary.metric}".replace("/", "_")
