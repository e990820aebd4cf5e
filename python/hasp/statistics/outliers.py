# SPDX-License-Identifier: MIT
"""Detection of samples that lie far from the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

# Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993): a modified Z-score,
# computed from the median absolute deviation (MAD), above 3.5 marks a potential
# outlier. 0.6745 is the 0.75 quantile, and so the MAD, of the standard normal
# distribution. Hyperfine requires a much larger score because it makes many short runs.
NORMAL_MAD = 0.6745
THRESHOLD = 3.5
# Distances below this share of the median are never outliers, however small the MAD is.
SMALLEST_SHARE = 0.05


def outliers(samples: Sequence[float]) -> list[int]:
    """The indices of the outliers, in order; none with fewer than four samples."""
    values = numpy.asarray(samples, dtype=float)
    if len(values) < 4:
        return []
    median = float(numpy.median(values))
    distance = numpy.abs(values - median)
    spread = float(numpy.median(distance))
    floor = SMALLEST_SHARE * abs(median)
    far = (NORMAL_MAD * distance > THRESHOLD * spread) & (distance > floor)
    return [int(index) for index in numpy.flatnonzero(far)]
