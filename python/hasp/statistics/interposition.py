# SPDX-License-Identifier: MIT
"""Cost of interposition: the same lock, native and interposed, over many programs.

"Lock - Unlock: Is That All?" (ACM TOCS 2019), section 3.2 and table 6, uses a paired
t-test on each program's means under both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import scipy

from hasp.statistics.ratio import CONFIDENCE, RESAMPLES

TINY = 1e-12  # rounding error of equal differences


@dataclass(frozen=True)
class Cost:
    """interposed / native over all pairs."""

    ratio: float  # geometric mean
    low: float  # of its bootstrap interval
    high: float
    p: float  # of the paired t-test on the logarithms
    pairs: int


def cost_of_interposing(
    native: Sequence[float], interposed: Sequence[float], *, seed: int = 0
) -> Cost:
    """Return the cost over two or more pairs of positive means.

    Computed on logarithms, because programs differ in scale and a ratio of 2 would
    outweigh one of 1/2 (Fleming and Wallace, "How not to lie with statistics", CACM
    1986). Raises ValueError with fewer than two pairs.
    """
    if len(native) != len(interposed) or len(native) < 2:
        raise ValueError("needs at least two pairs")
    before = numpy.log(numpy.asarray(native, float))
    after = numpy.log(numpy.asarray(interposed, float))
    difference = after - before
    centre = float(numpy.exp(difference.mean()))
    if float(difference.std()) < TINY:
        p = 1.0 if abs(centre - 1.0) < TINY else 0.0
        return Cost(centre, centre, centre, p, len(difference))
    interval = scipy.stats.bootstrap(
        (difference,),
        numpy.mean,
        confidence_level=CONFIDENCE,
        n_resamples=RESAMPLES,
        method="percentile",
        random_state=numpy.random.default_rng(seed),
    ).confidence_interval
    return Cost(
        centre,
        float(numpy.exp(interval.low)),
        float(numpy.exp(interval.high)),
        float(scipy.stats.ttest_rel(after, before).pvalue),
        len(difference),
    )
