# SPDX-License-Identifier: MIT
"""Confidence intervals for ratios of counts, shares and histograms of single runs.

They account for counting noise only, as if the events of a run were independent. Runs
differ by more than that, so the true uncertainty is larger. All intervals are for
ratios and symmetric on a log scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
import scipy
from numpy.typing import NDArray

from hasp.statistics.contest import welch

CONFIDENCE = 0.95
RESAMPLES = 400
SEED = 20_191  # fixed, so that the same traces give the same answer
FEWEST_EVENTS = 5  # for the logarithm of a count to be approximately normal


@dataclass(frozen=True)
class Change:
    """A ratio after / before, its 95 % interval, and the p value of no change."""

    ratio: float
    low: float | None
    high: float | None
    p: float


def of_counts(before: float, after: float, exposure: float = 1.0) -> Change | None:
    """Return the ratio of the rates of two Poisson processes; None if a count is zero.

    `exposure` is time after / time before. The variance of a count's logarithm is
    1 / count (delta method).
    """
    if not before or not after:
        return None
    ratio = after / before / exposure
    if min(before, after) < FEWEST_EVENTS:
        return Change(ratio, None, None, 1.0)
    return change(ratio, 1 / before + 1 / after)


def of_shares(before: tuple[int, int], after: tuple[int, int]) -> Change | None:
    """The ratio of the shares of two binomial variables, each given as (hits, trials).

    Katz, Baptista, Azen and Pike, "Obtaining confidence intervals for the risk ratio in
    cohort studies", Biometrics 1978.
    """
    (hits, trials), (hits_after, trials_after) = before, after
    if not hits or not hits_after:
        return None
    ratio = (hits_after / trials_after) / (hits / trials)
    if min(hits, hits_after) < FEWEST_EVENTS:
        return Change(ratio, None, None, 1.0)
    variance = 1 / hits - 1 / trials + 1 / hits_after - 1 / trials_after
    return change(ratio, max(variance, 0.0))


def change(ratio: float, variance: float) -> Change:
    """Return the change described by a ratio and the variance of its logarithm."""
    deviation = math.sqrt(variance)
    logarithm = math.log(ratio)
    if deviation == 0.0:
        return Change(ratio, ratio, ratio, 1.0 if ratio == 1.0 else 0.0)
    reach = -float(scipy.special.ndtri((1 - CONFIDENCE) / 2)) * deviation
    p = float(2 * scipy.special.ndtr(-abs(logarithm) / deviation))
    return Change(ratio, math.exp(logarithm - reach), math.exp(logarithm + reach), p)


def variance_of_mean(
    counts: Sequence[int], values: Sequence[float], number: int
) -> float | None:
    """Variance of the logarithm of a histogram's mean (delta method).

    `number` is the number of durations measured, since `counts` may be scaled up.
    """
    weights = numpy.asarray(counts, float)
    if number < FEWEST_EVENTS:
        return None
    points = numpy.asarray(values, float)
    mean = float((weights * points).sum() / weights.sum())
    around = float((weights * (points - mean) ** 2).sum() / weights.sum())
    spread = around * number / (number - 1)
    return spread / number / mean**2 if mean else None


def variance_by_bootstrap(
    counts: Sequence[int],
    number: int,
    statistic: Callable[[NDArray[numpy.int64]], NDArray[numpy.float64]],
) -> float | None:
    """Variance of the logarithm of a statistic, by the bootstrap.

    The statistic takes a matrix with one row per resample. Each resample draws `number`
    durations, as many as were measured (Efron, "Bootstrap methods: another look at the
    jackknife", Annals of Statistics 1979).
    """
    weights = numpy.asarray(counts, float)
    if number < FEWEST_EVENTS:
        return None
    source = numpy.random.default_rng(SEED)
    drawn = source.multinomial(number, weights / weights.sum(), size=RESAMPLES)
    found = statistic(drawn)
    logarithms = numpy.log(found[found > 0])
    return float(logarithms.var(ddof=1)) if len(logarithms) > 1 else None


def quantiles(
    drawn: NDArray[numpy.int64], edges: Sequence[float], q: float
) -> NDArray[numpy.float64]:
    """Return the q-quantile of each row of counts, interpolated within the bucket."""
    sums = drawn.cumsum(axis=1)
    rank = q * sums[:, -1]
    bucket = (sums >= rank[:, None]).argmax(axis=1)
    row = numpy.arange(len(drawn))
    part = 1 - (sums[row, bucket] - rank) / numpy.maximum(drawn[row, bucket], 1)
    bounds = numpy.asarray(edges, float)
    low, high = bounds[bucket], bounds[bucket + 1]
    return numpy.asarray(low + part * (high - low), float)


def of_runs(before: Sequence[float], after: Sequence[float]) -> Change | None:
    """Return the change between two samples of runs, by Welch's test of the logarithms.

    It uses logarithms because a change to the program multiplies its figures. If a
    value is not positive, the result is the ratio of the means without an interval.
    """
    first, second = numpy.asarray(before, float), numpy.asarray(after, float)
    if len(first) < 2 or len(second) < 2 or not first.mean() or not second.mean():
        return None
    ratio = float(second.mean() / first.mean())
    if min(first.min(), second.min()) <= 0:
        return Change(ratio, None, None, welch(list(first), list(second)))
    first, second = numpy.log(first), numpy.log(second)
    difference = float(second.mean() - first.mean())
    if first.std() == second.std() == 0.0:
        return change(math.exp(difference), 0.0)
    test = scipy.stats.ttest_ind(second, first, equal_var=False)
    low, high = test.confidence_interval(CONFIDENCE)
    return Change(
        math.exp(difference),
        math.exp(float(low)),
        math.exp(float(high)),
        float(test.pvalue),
    )
