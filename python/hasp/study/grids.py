# SPDX-License-Identifier: MIT
"""From the samples of a store to the grids that the statistics take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from hasp.errors import HaspError
from hasp.statistics.grid import Grid

if TYPE_CHECKING:
    import polars


def grid_of(
    samples: polars.DataFrame, machine: str, metric: str, *, inverted: bool = False
) -> Grid:
    """The means of one machine and metric; `inverted`: 1 / mean, as less is better."""
    import polars

    _known("machine", machine, samples["machine"].unique().to_list())
    ours = samples.filter(polars.col("machine") == machine)
    _known("metric", metric, ours["metric"].unique().to_list())
    means = (
        ours.filter(polars.col("metric") == metric)
        .group_by("program", "lock", "size")
        .agg(polars.col("value").mean())
    )
    programs = sorted(means["program"].unique().to_list())
    locks = sorted(means["lock"].unique().to_list())
    sizes = sorted(means["size"].unique().to_list())
    values = numpy.full((len(programs), len(locks), len(sizes)), numpy.nan)
    places = [
        means[name].replace_strict(order, range(len(order)), return_dtype=polars.Int64)
        for name, order in (("program", programs), ("lock", locks), ("size", sizes))
    ]
    values[tuple(place.to_numpy() for place in places)] = means["value"].to_numpy()
    if inverted:
        with numpy.errstate(divide="ignore"):
            values = 1.0 / values
    return Grid(tuple(programs), tuple(locks), tuple(sizes), values)


def _known(kind: str, name: str, there: list[str]) -> None:
    if name not in there:
        raise HaspError(
            f"the store has no {kind} {name!r}",
            f"it has {', '.join(sorted(there))}",
        )
