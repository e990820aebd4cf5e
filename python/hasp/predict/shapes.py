# SPDX-License-Identifier: MIT
"""Convert histograms to shapes, from which the simulator draws times.

A shape has the means of equally likely parts of a distribution.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise

from hasp.predict.load import CONSTANT, SHAPE_VALUES, Shape
from hasp.profile.model.distribution import Distribution


def shape_of(times: Distribution) -> Shape:
    """Return the means of equally likely parts, in permille of the overall mean."""
    counts = list(times.counts)
    while counts and not counts[-1]:
        counts.pop()
    if not counts:
        return CONSTANT
    edges = times.edges_ns
    middles = [(edges[i] + edges[i + 1]) / 2 for i in range(len(counts))]
    middles[-1] = min(middles[-1], max(times.max_ns, edges[len(counts) - 1]))
    ends = list(accumulate(counts))
    sums = [0.0, *accumulate(m * c for m, c in zip(middles, counts, strict=True))]
    if not sums[-1]:
        return CONSTANT

    def until(rank: float) -> float:
        """Return the sum of the durations that have a smaller rank."""
        place = min(bisect_right(ends, rank), len(counts) - 1)
        begun = ends[place] - counts[place]
        return sums[place] + (rank - begun) * middles[place]

    ranks = [ends[-1] * i / SHAPE_VALUES for i in range(SHAPE_VALUES + 1)]
    whole = [until(rank) for rank in ranks]
    parts = pairwise(whole)
    scale = 1000 * SHAPE_VALUES / sums[-1]
    return tuple(max(0, round(scale * (high - low))) for low, high in parts)
