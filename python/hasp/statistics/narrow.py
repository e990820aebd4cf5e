# SPDX-License-Identifier: MIT
"""The relative width of a mean's confidence interval, for deciding when to stop."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy
import scipy

from hasp.statistics.grid import Array
from hasp.statistics.ratio import CONFIDENCE


def half_width(values: Sequence[float]) -> float:
    """Half of Student's interval of the mean, as a share of the mean.

    Infinite with fewer than two values. Running until it is below a limit, with a bound
    on the number of runs, is the rule of Georges, Buytaert and Eeckhout, "Statistically
    rigorous Java performance evaluation", OOPSLA 2007, section 3.
    """
    if len(values) < 2:
        return math.inf
    sample = numpy.asarray(values, dtype=float)
    moments = sample.mean(), sample.std(ddof=1), len(sample)
    (width,) = half_widths(*(numpy.array([moment]) for moment in moments))
    return 0.0 if math.isnan(width) else float(width)  # all are zero


def half_widths(means: Array, deviations: Array, runs: Array) -> Array:
    """`half_width` of many samples, from their means, deviations and sizes.

    NaN with fewer than two values.
    """
    counts = numpy.asarray(runs, dtype=float)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        quantiles = scipy.special.stdtrit(counts - 1, (1 + CONFIDENCE) / 2)
        errors = numpy.asarray(deviations, dtype=float) / numpy.sqrt(counts)
        widths: Array = numpy.where(
            counts < 2, numpy.nan, quantiles * errors / numpy.abs(means)
        )
    return widths
