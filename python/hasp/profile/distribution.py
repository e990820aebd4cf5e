# SPDX-License-Identifier: MIT
"""Durations as a histogram that merges: buckets of a quarter of an octave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hasp.profile.model import Site, Use


@dataclass(frozen=True)
class Distribution:
    """How long something took.

    `edges_ns` has one entry more than `counts`: bucket i counts from edges_ns[i] to
    edges_ns[i + 1]. `counts` are of what was timed; `total_ns` is of all.
    """

    counts: Sequence[int]
    edges_ns: Sequence[float]
    total_ns: int
    max_ns: int

    @property
    def timed(self) -> int:
        """How many durations were measured."""
        return sum(self.counts)

    @property
    def mean_ns(self) -> float | None:
        """None without a measurement."""
        raise NotImplementedError

    def quantile(self, q: float) -> float | None:
        """The q-quantile in ns, interpolated within its bucket, at most the maximum."""
        raise NotImplementedError

    def __add__(self, other: Distribution) -> Distribution:
        raise NotImplementedError


def combined(site: Site) -> Use | None:
    """All acquisitions of a site's locks as one use; None if there are none."""
    raise NotImplementedError
