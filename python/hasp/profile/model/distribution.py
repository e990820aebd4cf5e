# SPDX-License-Identifier: MIT
"""Durations as a histogram that merges: buckets of a quarter of an octave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Distribution:
    """How long something took.

    `edges_ns` has one entry more than `counts`: bucket i counts from edges_ns[i] to
    edges_ns[i + 1], the last also all above. `counts` are of what was timed; `number`
    and `total_ns` are of all. Where a measured duration was counted once for each that
    it stands for, `looked` says how many were measured; 0: as many as were counted.
    """

    counts: Sequence[int]
    edges_ns: Sequence[float]
    total_ns: int
    max_ns: int
    number: int
    looked: int = 0

    @property
    def timed(self) -> int:
        """How many durations were measured."""
        return self.looked or sum(self.counts)

    @property
    def mean_ns(self) -> float | None:
        """None without a measurement."""
        return self.total_ns / self.number if self.number and self.timed else None

    def quantile(self, q: float) -> float | None:
        """The q-quantile in ns, interpolated within its bucket, at most the maximum."""
        sums = list(accumulate(self.counts))
        if not sums or not sums[-1]:
            return None
        rank = min(max(q, 0.0), 1.0) * sums[-1]
        bucket = next(i for i, s in enumerate(sums) if s >= rank and self.counts[i])
        low, high = self.edges_ns[bucket], self.edges_ns[bucket + 1]
        if sums[bucket] == sums[-1]:
            # The maximum closes the last bucket that is in use. It may lag behind the
            # counts while a program runs, so it is not let below that bucket.
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
            self.timed + other.timed if self.looked or other.looked else 0,
        )


NOTHING = Distribution((), (), 0, 0, 0)  # the neutral element of the sum
