# SPDX-License-Identifier: MIT
"""The effect of the choice of lock on a program.

"Lock - Unlock: Is That All?" (ACM TOCS 2019), section 4.1 and tables 7, 8, 19: the gain
of the best lock over the worst, and the relative standard deviation over the locks. The
kinds of standard deviation, mean and rounding were found by recomputing the printed
figures from the published runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from hasp.statistics.grid import Array, Flags, Grid, best_of

# A program is lock-sensitive if its relative deviation at its largest size is above
# this.
SENSITIVE_ABOVE = 0.10


def gain_of_best_over_worst(values: Array) -> Array:
    """best / worst - 1 of each program, given means of shape (programs, locks)."""
    filled = numpy.where(numpy.isnan(values), numpy.inf, values)
    gain: Array = best_of(values)[:, 0] / filled.min(axis=1) - 1.0
    return gain


def relative_deviation(values: Array) -> Array:
    """Sample standard deviation (n - 1) over the locks, divided by their mean."""
    known = ~numpy.isnan(values)
    count = known.sum(axis=1)
    filled = numpy.where(known, values, 0.0)
    mean = filled.sum(axis=1) / numpy.maximum(count, 1)
    squares = numpy.where(known, (values - mean[:, None]) ** 2, 0.0).sum(axis=1)
    deviation = numpy.sqrt(squares / numpy.maximum(count - 1, 1))
    result: Array = numpy.where(
        count > 1, deviation / numpy.where(mean == 0, 1.0, mean), numpy.nan
    )
    return result


def sensitive(grid: Grid) -> Flags:
    """Return for each program whether it is lock-sensitive at its largest size."""
    with numpy.errstate(invalid="ignore"):
        flags: Flags = relative_deviation(grid.at("max")) > SENSITIVE_ABOVE
    return flags


def sensitive_programs(grid: Grid) -> list[str]:
    """Return the names of the lock-sensitive programs, in the grid's order."""
    flags = sensitive(grid)
    return [name for name, flag in zip(grid.programs, flags, strict=True) if flag]


def deviation_beyond_noise(runs: Sequence[Sequence[float]]) -> float | None:
    """Return the relative deviation over the locks, without the noise of their runs.

    The variance that noise alone gives to the means of equal locks is subtracted. None
    unless some lock has repeated runs.
    """
    repeated = [values for values in runs if len(values) > 1]
    if len(runs) < 2 or not repeated:
        return None
    means = numpy.array([numpy.mean(values) for values in runs])
    noise = numpy.mean([numpy.var(values, ddof=1) for values in repeated])
    noise *= numpy.mean([1 / len(values) for values in runs])
    left = max(0.0, float(means.var(ddof=1) - noise))
    return float(left**0.5 / means.mean())
