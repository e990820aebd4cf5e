# SPDX-License-Identifier: MIT
"""The ratio of two medians with a confidence interval, from interleaved runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import numpy.typing
import scipy

CONFIDENCE = 0.95
RESAMPLES = 4000
# The percentile interval of five pairs covers at most 1 - 2^-4 = 94 %, of six 97 %.
FEWEST_PAIRS = 6
# Represents infinity while resampling, because percentiles need finite numbers.
HUGE = 1e100

Array = numpy.typing.NDArray[numpy.float64]


@dataclass(frozen=True)
class Ratio:
    """The ratio of a sample to a reference; its bounds are None if there are none."""

    value: float
    low: float | None
    high: float | None
    blocks: int  # pairs of runs that it was computed from

    @property
    def above(self) -> bool:
        """Return true if the whole interval lies above 1."""
        return self.low is not None and self.low > 1.0

    @property
    def below(self) -> bool:
        """Return true if the whole interval lies below 1."""
        return self.high is not None and self.high < 1.0


def _ratio(sample: Array, reference: Array, axis: int = -1) -> Array:
    top = numpy.median(sample, axis=axis)
    bottom = numpy.median(reference, axis=axis)
    # Zero divided by zero counts as 1, anything else divided by zero as infinite.
    missing = numpy.where(top == 0, 1.0, HUGE)
    return numpy.where(
        bottom == 0, missing, top / numpy.where(bottom == 0, 1.0, bottom)
    )


def median_ratio(sample: Sequence[float], reference: Sequence[float]) -> float:
    """median(sample) / median(reference); infinite if only the latter is zero."""
    return _open(float(_ratio(numpy.asarray(sample), numpy.asarray(reference))))


def ratio_of_medians(
    sample: Sequence[float],
    reference: Sequence[float],
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Ratio:
    """Return the ratio of the medians of two series measured side by side.

    sample[i] and reference[i] come from the same block of an interleaved schedule.
    Whole blocks are resampled, so that a disturbance of a whole block (a busy
    neighbour, a hot CPU) does not widen the interval: Efron and Tibshirani, "An
    Introduction to the Bootstrap" (1993), chapters 8 (paired data) and 13 (the
    percentile interval). BCa intervals are not used because the jackknife that they
    need is inconsistent for medians (section 11.6). With n blocks it covers at most 1 -
    2^(1-n): 75 % for three, 94 % for five, 97 % for six.
    """
    if len(sample) != len(reference):
        raise ValueError("paired series must be equally long")
    if not len(sample):
        return Ratio(math.nan, None, None, 0)
    top = numpy.asarray(sample, dtype=float)
    bottom = numpy.asarray(reference, dtype=float)
    value = median_ratio(sample, reference)
    if len(top) < 2:
        return Ratio(value, None, None, len(top))
    result = scipy.stats.bootstrap(
        (top, bottom),
        _ratio,
        paired=True,
        vectorized=True,
        method="percentile",
        confidence_level=confidence,
        n_resamples=resamples,
        random_state=numpy.random.default_rng(seed),
    )
    low, high = result.confidence_interval
    return Ratio(value, _open(float(low)), _open(float(high)), len(top))


def median_of_ratios(sample: Sequence[float], reference: Sequence[float]) -> Ratio:
    """Return the median of the ratios of neighbouring measurements.

    sample[i] and reference[i] come from the same block of an interleaved schedule.
    Where the machine changes its speed between blocks, the two medians that
    ratio_of_medians() divides can be of different speeds; a ratio within a block is
    not. The interval is that of the sign test (W. J. Conover, "Practical Nonparametric
    Statistics", section 3.2): it covers at least 95 %. Fewer than six pairs have none.
    """
    if len(sample) != len(reference):
        raise ValueError("paired series must be equally long")
    if not len(sample):
        return Ratio(math.nan, None, None, 0)
    pairs = zip(sample, reference, strict=True)
    ratios = sorted(median_ratio([one], [other]) for one, other in pairs)
    low, high = interval_of_median(ratios) or (None, None)
    return Ratio(float(numpy.median(ratios)), low, high, len(ratios))


def interval_of_median(sample: Sequence[float]) -> tuple[float, float] | None:
    """Return an interval that covers the median with at least 95 %, by the sign test.

    None for fewer than six values.
    """
    values, count = sorted(sample), len(sample)
    if count < FEWEST_PAIRS:
        return None
    left_out = int(scipy.stats.binom.ppf((1 - CONFIDENCE) / 2, count, 0.5))
    # ppf() returns the first number whose probability is at least the tail's.
    return values[left_out - 1], values[count - left_out]


def _open(value: float) -> float:
    return math.inf if value > HUGE / 1e6 else value
