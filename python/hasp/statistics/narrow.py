# SPDX-License-Identifier: MIT
"""Whether a mean is known well enough to stop measuring."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy
from scipy.stats import t as student

from hasp.statistics.ratio import CONFIDENCE


def half_width(values: Sequence[float]) -> float:
    """Half of Student's interval of the mean, as a share of the mean.

    Infinite with fewer than two values. The rule "run until it is below x" and its
    bound on the runs: Georges, Buytaert and Eeckhout, "Statistically rigorous Java
    performance evaluation", OOPSLA 2007, section 3.
    """
    if len(values) < 2:
        return math.inf
    sample = numpy.asarray(values, dtype=float)
    mean = abs(float(sample.mean()))
    error = float(sample.std(ddof=1)) / math.sqrt(len(sample))
    if error == 0.0:
        return 0.0
    if mean == 0.0:
        return math.inf
    quantile = float(student.ppf((1 + CONFIDENCE) / 2, len(sample) - 1))
    return quantile * error / mean
