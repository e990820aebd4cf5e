# SPDX-License-Identifier: MIT
"""Which locks may be the best for a program, as far as its runs can tell.

What the lock study lacked: it compares means of about five runs as they are. Here each
lock is held against the one with the best mean by Welch's test (unequal variances:
Welch, "The generalization of 'Student's' problem when several different population
variances are involved", Biometrika 1947), the family of tests of a program is
corrected (Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
Journal of Statistics 1979), and a difference is only said to be one if it is also large
enough to matter. Otherwise the verdict is "cannot tell".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
from scipy.stats import t as student

BEST, SAME, WORSE, CANNOT_TELL = "best", "same", "worse", "cannot tell"
SIGNIFICANT_BELOW = 0.05
# A lock this close to the best is as good (the study's own 5 %).
MATTERS_FROM = 0.05


@dataclass(frozen=True)
class Standing:
    """A lock against the one with the best mean."""

    ratio: float  # mean / best mean
    effect: float  # Hedges' g; negative: behind the best
    p: float  # corrected by Holm
    verdict: str


def welch(one: Sequence[float], other: Sequence[float]) -> float:
    """Two-sided p of Welch's test; 1 where the runs cannot tell (fewer than two)."""
    first, second = numpy.asarray(one, float), numpy.asarray(other, float)
    if len(first) < 2 or len(second) < 2:
        return 1.0
    shares = [sample.var(ddof=1) / len(sample) for sample in (first, second)]
    difference = float(first.mean() - second.mean())
    spread = float(sum(shares))
    if spread == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    freedom = spread**2 / sum(
        share**2 / (len(sample) - 1)
        for share, sample in zip(shares, (first, second), strict=True)
    )
    return float(2 * student.sf(abs(difference) / math.sqrt(spread), freedom))


def hedges_g(one: Sequence[float], other: Sequence[float]) -> float:
    """The difference of the means in pooled standard deviations, for small samples.

    Hedges, "Distribution theory for Glass's estimator of effect size and related
    estimators", Journal of Educational Statistics 1981. NaN with fewer than two runs.
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
    """p values corrected for being so many, in the order given."""
    order = numpy.argsort(values, kind="stable")
    corrected = [0.0] * len(values)
    largest = 0.0
    for place, which in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[int(which)]))
        corrected[int(which)] = largest
    return corrected


def contest(runs: Mapping[str, Sequence[float]]) -> dict[str, Standing]:
    """The standing of each lock, from its runs of one program and size."""
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
