# SPDX-License-Identifier: MIT
"""Which samples lie far from the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

# Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993): a modified Z-score,
# from the median absolute deviation, above 3.5 is a potential outlier. 0.6745 is the
# 0.75 quantile of the normal distribution, where the MAD of one lies. Hyperfine asks
# for a much larger score because it has many short runs; with few runs each counts.
NORMAL_MAD = 0.6745
THRESHOLD = 3.5
# A score needs a spread: below this share of the median, scatter is not worth a word.
SMALLEST_SHARE = 0.05


def outliers(samples: Sequence[float]) -> list[int]:
    """The places of the samples that are outliers, in order."""
    values = numpy.asarray(samples, dtype=float)
    if len(values) < 4:
        return []
    median = float(numpy.median(values))
    distance = numpy.abs(values - median)
    spread = float(numpy.median(distance))
    floor = SMALLEST_SHARE * abs(median)
    far = (NORMAL_MAD * distance > THRESHOLD * spread) & (distance > floor)
    return [int(place) for place in numpy.flatnonzero(far)]
