# SPDX-License-Identifier: MIT
"""Tests of each lock against the one with the best mean, for one program.

The lock study compares means of about five runs without a test. Here, Welch's test
(unequal variances: Welch, "The generalization of 'Student's' problem when several
different population variances are involved", Biometrika 1947) compares each lock with
the best one. Its p values are corrected for the number of locks (Holm, "A simple
sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
1979). A lock is "worse" if the difference is significant and large enough to matter;
a difference that is large but not significant gets the verdict "cannot tell".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
import scipy

BEST, SAME, WORSE, CANNOT_TELL = "best", "same", "worse", "cannot tell"
SIGNIFICANT_BELOW = 0.05
# A lock within this share of the best counts as equally good (the study's 5 %).
MATTERS_FROM = 0.05


@dataclass(frozen=True)
class Standing:
    """Comparison of a lock with the one that has the best mean."""

    ratio: float  # mean / best mean
    effect: float  # Hedges' g; negative if the lock is slower than the best
    p: float  # corrected by Holm's procedure
    verdict: str


def welch(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the two-sided p of Welch's test; 1 if a sample has under two values."""
    first, second = numpy.asarray(one, float), numpy.asarray(other, float)
    if len(first) < 2 or len(second) < 2:
        return 1.0
    if first.std() == second.std() == 0.0:
        return 1.0 if first[0] == second[0] else 0.0
    test = scipy.stats.ttest_ind_from_stats(
        *(first.mean(), first.std(ddof=1), len(first)),
        *(second.mean(), second.std(ddof=1), len(second)),
        equal_var=False,
    )
    return float(test.pvalue)


def hedges_g(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the difference of the means in pooled standard deviations (Hedges' g).

    Hedges, "Distribution theory for Glass's estimator of effect size and related
    estimators", Journal of Educational Statistics 1981: with his correction for small
    samples. NaN with fewer than two runs.
    """
    first, second = numpy.asarray(one, float), numpy.asarray(other, float)
    freedom = len(first) + len(second) - 2
    if len(first) < 2 or len(second) < 2:
        return math.nan
    pooled = math.sqrt(
        ((len(first) - 1) * first.var(ddof=1) + (len(second) - 1) * second.var(ddof=1))
        / freedom
    )
    difference = float(first.mean() - second.mean())
    if pooled == 0.0:
        return 0.0 if difference == 0.0 else math.copysign(math.inf, difference)
    return difference / pooled * (1 - 3 / (4 * freedom - 1))


def holm(values: Sequence[float]) -> list[float]:
    """Return the p values corrected for their number, in the order given."""
    order = numpy.argsort(values, kind="stable")
    corrected = [0.0] * len(values)
    largest = 0.0
    for index, which in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - index) * values[int(which)]))
        corrected[int(which)] = largest
    return corrected


def contest(runs: Mapping[str, Sequence[float]]) -> dict[str, Standing]:
    """Return the standing of each lock, given its runs of one program at one size."""
    means = {lock: float(numpy.mean(values)) for lock, values in runs.items()}
    if not means:
        return {}
    best = max(means, key=lambda lock: means[lock])
    others = [lock for lock in runs if lock != best]
    corrected = holm([welch(runs[lock], runs[best]) for lock in others])
    found = {best: Standing(1.0, 0.0, 1.0, BEST)}
    for lock, p in zip(others, corrected, strict=True):
        ratio = means[lock] / means[best] if means[best] else math.nan
        found[lock] = Standing(
            ratio, hedges_g(runs[lock], runs[best]), p, _verdict(ratio, p)
        )
    return found


def _verdict(ratio: float, p: float) -> str:
    if ratio >= 1 - MATTERS_FROM:
        return SAME
    return WORSE if p < SIGNIFICANT_BELOW else CANNOT_TELL
