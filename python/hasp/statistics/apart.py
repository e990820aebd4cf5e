# SPDX-License-Identifier: MIT
"""Which subjects measurements tell apart, and how many of those pairs are in order.

Kendall's tau counts every pair, so among subjects that are nearly equal, noise decides.
A pair is told apart if its means differ by Welch's t-test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from hasp.statistics.contest import welch

APART_BELOW = 0.01  # chance of the difference, or a larger one, between equal subjects


def pairs_apart(runs: Mapping[str, Sequence[float]]) -> list[tuple[str, str]]:
    """Return the pairs that the runs of each subject tell apart, the larger first.

    A subject with fewer than two runs is in no pair.
    """
    return [
        (one, other) if fmean(runs[one]) > fmean(runs[other]) else (other, one)
        for one, other in combinations(runs, 2)
        if welch(runs[one], runs[other]) < APART_BELOW
    ]


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
