# SPDX-License-Identifier: MIT
"""Mergeable histograms of durations, with four buckets for each power of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Distribution:
    """A distribution of durations.

    `edges_ns` has one entry more than `counts`: bucket i counts durations from
    edges_ns[i] to edges_ns[i + 1]; the last bucket also counts everything longer.
    `counts` covers the timed durations, `number` and `total_ns` cover all. Where a
    timed duration is counted with a weight, `sampled` is the number of measurements; 0
    means that every weight is 1.
    """

    counts: Sequence[int]
    edges_ns: Sequence[float]
    total_ns: int
    max_ns: int
    number: int
    sampled: int = 0

    @property
    def timed(self) -> int:
        """Number of measured durations."""
        return self.sampled or sum(self.counts)

    @property
    def mean_ns(self) -> float | None:
        """Mean in ns; None without a measurement."""
        return self.total_ns / self.number if self.number and self.timed else None

    def quantile(self, q: float) -> float | None:
        """Return the q-quantile in ns, interpolated within its bucket, or None."""
        sums = list(accumulate(self.counts))
        if not sums or not sums[-1]:
            return None
        rank = min(max(q, 0.0), 1.0) * sums[-1]
        bucket = next(i for i, s in enumerate(sums) if s >= rank and self.counts[i])
        low, high = self.edges_ns[bucket], self.edges_ns[bucket + 1]
        if sums[bucket] == sums[-1]:
            # The maximum bounds the last bucket in use. While a program runs it may lag
            # behind the counts, so it is raised to the bucket's lower edge.
            high = max(self.max_ns, low)
        part = 1 - (sums[bucket] - rank) / self.counts[bucket]
        return low + part * (high - low)

    def __add__(self, other: Distribution) -> Distribution:
        if not self.counts or not other.counts:
            counts, edges = (
                (self.counts, self.edges_ns)
                if self.counts
                else (other.counts, other.edges_ns)
            )
        elif tuple(self.edges_ns) != tuple(other.edges_ns):
            raise ValueError("distributions of different clocks have different buckets")
        else:
            pairs = zip(self.counts, other.counts, strict=True)
            counts, edges = tuple(a + b for a, b in pairs), self.edges_ns
        return Distribution(
            counts,
            edges,
            self.total_ns + other.total_ns,
            max(self.max_ns, other.max_ns),
            self.number + other.number,
            self.timed + other.timed if self.sampled or other.sampled else 0,
        )


NOTHING = Distribution((), (), 0, 0, 0)  # the neutral element of addition
