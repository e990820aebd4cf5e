# SPDX-License-Identifier: MIT
"""Conversion of the samples of a store into grids for the statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy
import numpy.typing

from hasp.base.errors import HaspError
from hasp.statistics.grid import Array, Grid
from hasp.statistics.narrow import half_widths

if TYPE_CHECKING:
    import polars


def grid_of(
    samples: polars.DataFrame, machine: str, metric: str, *, inverted: bool = False
) -> Grid:
    """The means of one machine and metric; 1 / mean if `inverted` (lower is better)."""
    import polars

    means = (
        _of(samples, machine, metric)
        .group_by("program", "lock", "size")
        .agg(polars.col("value").mean())
    )
    programs = sorted(means["program"].unique().to_list())
    locks = sorted(means["lock"].unique().to_list())
    sizes = sorted(means["size"].unique().to_list())
    values = numpy.full((len(programs), len(locks), len(sizes)), numpy.nan)
    places = _places(means, programs, locks, sizes)
    values[places] = means["value"].to_numpy()
    if inverted:
        # A ratio to 0 is undefined, so 0 counts as not measured.
        values = 1.0 / numpy.where(values > 0, values, numpy.nan)
    return Grid(tuple(programs), tuple(locks), tuple(sizes), values)


Runs = dict[tuple[str, str, int], list[float]]  # by (program, lock, size)


def runs_of(samples: polars.DataFrame, machine: str, metric: str) -> Runs:
    """Return the values of each configuration, in the order of the runs."""
    import polars

    groups = (
        _of(samples, machine, metric)
        .group_by("program", "lock", "size", maintain_order=True)
        .agg(polars.col("value"))
    )
    return {
        (program, lock, size): values for program, lock, size, values in groups.rows()
    }


def _of(samples: polars.DataFrame, machine: str, metric: str) -> polars.DataFrame:
    """Return the samples of one machine and metric; an error lists those available."""
    import polars

    _known("machine", machine, samples["machine"].unique().to_list())
    ours = samples.filter(polars.col("machine") == machine)
    _known("metric", metric, ours["metric"].unique().to_list())
    return ours.filter(polars.col("metric") == metric)


def spread_of(
    samples: polars.DataFrame, machine: str, metric: str, grid: Grid
) -> Array:
    """Half the interval of each mean, as a share of the mean; NaN with a single run."""
    import polars

    found = (
        _of(samples, machine, metric)
        .group_by("program", "lock", "size")
        .agg(
            polars.col("value").mean().alias("mean"),
            polars.col("value").std().alias("deviation"),
            polars.len().alias("runs"),
        )
    )
    values = numpy.full(grid.values.shape, numpy.nan)
    values[_places(found, grid.programs, grid.locks, grid.sizes)] = half_widths(
        *(found[name].to_numpy() for name in ("mean", "deviation", "runs"))
    )
    return values


def _places(
    table: polars.DataFrame,
    programs: Sequence[str],
    locks: Sequence[str],
    sizes: Sequence[int],
) -> tuple[numpy.typing.NDArray[numpy.int64], ...]:
    """Return the indices in a grid for each row of a table."""
    import polars

    return tuple(
        table[name]
        .replace_strict(list(order), range(len(order)), return_dtype=polars.Int64)
        .to_numpy()
        for name, order in (("program", programs), ("lock", locks), ("size", sizes))
    )


def _known(kind: str, name: str, there: list[str]) -> None:
    if name not in there:
        raise HaspError(
            f"the store has no {kind} {name!r}",
            f"it has {', '.join(sorted(there))}",
        )
