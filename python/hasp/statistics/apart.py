# SPDX-License-Identifier: MIT
"""Which subjects measurements tell apart, and how many of those pairs are in order.

Kendall's tau counts every pair, so among subjects that are nearly equal, noise decides.
A pair is told apart if its means differ by Welch's t-test (Biometrika 34, 1947).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, variance

import scipy

APART_BELOW = 0.01  # chance of the difference, or a larger one, between equal subjects


def pairs_apart(runs: Mapping[str, Sequence[float]]) -> list[tuple[str, str]]:
    """Return the pairs that the runs of each subject tell apart, the larger first.

    Subjects with less than two runs are in none.
    """
    known = {name: values for name, values in runs.items() if len(values) > 1}
    return [
        (one, other) if fmean(runs[one]) > fmean(runs[other]) else (other, one)
        for one, other in combinations(known, 2)
        if _chance(runs[one], runs[other]) < APART_BELOW
    ]


def _chance(one: Sequence[float], other: Sequence[float]) -> float:
    difference = abs(fmean(one) - fmean(other))
    noise = [variance(values) / len(values) for values in (one, other)]
    if not sum(noise):
        return 0.0 if difference else 1.0
    freedom = sum(noise) ** 2 / sum(
        own**2 / (len(values) - 1)
        for own, values in zip(noise, (one, other), strict=True)
    )
    return 2 * float(scipy.special.stdtr(freedom, -difference / sum(noise) ** 0.5))


def share_in_order(
    pairs: Iterable[tuple[str, str]], figures: Mapping[str, float]
) -> float | None:
    """Return the share of the pairs that have the same order in `figures`.

    A tie, or a pair of which a figure is missing, counts as half. None without pairs.
    """
    points = [_point(figures.get(one), figures.get(other)) for one, other in pairs]
    return fmean(points) if points else None


def _point(larger: float | None, smaller: float | None) -> float:
    if larger is None or smaller is None or larger == smaller:
        return 0.5
    return float(larger > smaller)
