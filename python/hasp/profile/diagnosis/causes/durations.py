# SPDX-License-Identifier: MIT
"""Sums over the buckets of distributions of durations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hasp.profile.model.distribution import Distribution


def middles(times: Distribution) -> Iterator[tuple[int, float]]:
    """Yield the number of durations in each bucket, and their middle in ns."""
    edges = zip(times.counts, times.edges_ns, times.edges_ns[1:], strict=False)
    for count, low, high in edges:
        if count:
            yield count, (low + min(high, max(times.max_ns, low))) / 2


def share_above(times: Distribution, least_ns: float) -> float:
    """Return the share of the sum of durations that longer ones contribute."""
    return _share(times, lambda middle: middle if middle >= least_ns else 0.0)


def excess(times: Distribution, explained_ns: float) -> float:
    """Return the share of the sum of durations beyond this much of each of them."""
    return _share(times, lambda middle: max(middle - explained_ns, 0.0))


def _share(times: Distribution, part: Callable[[float], float]) -> float:
    """Return the share of the sum of durations in a part of each of them."""
    buckets = list(middles(times))
    total = sum(count * middle for count, middle in buckets)
    parts = sum(count * part(middle) for count, middle in buckets)
    return parts / total if total else 0.0


def share_of_longest(times: Distribution, number: int) -> float:
    """Return the share of the sum of durations in this many of the longest ones."""
    buckets = list(middles(times))
    total = sum(count * middle for count, middle in buckets)
    scale = times.number / max(sum(count for count, _ in buckets), 1)
    left, longest = number / max(scale, 1.0), 0.0
    for count, middle in reversed(buckets):
        taken = min(float(count), left)
        longest += taken * middle
        left -= taken
    return longest / total if total else 0.0
