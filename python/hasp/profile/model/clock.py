# SPDX-License-Identifier: MIT
"""Ticks of a trace as nanoseconds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LONGEST_NS = 1 << 62  # what does not fit is damage, and is cut to this
# Constant counters run from 10 MHz to 10 GHz: ns per tick.
FASTEST, SLOWEST = 0.1, 100.0
FEWEST_NS = 1_000_000  # between the two readings, for a scale to 0.1 %


class Clock(NamedTuple):
    """Two readings of ticks and nanoseconds, the later one perhaps still renewed."""

    begin: int  # ticks
    duration_ns: int
    ns_per_tick: float

    def ns(self, ticks: int | np.integer | float) -> int:
        """A duration."""
        return min(int(int(ticks) * self.ns_per_tick), LONGEST_NS)

    def at(self, ticks: int | np.integer) -> int:
        """A moment, in ns since the trace began; not before that."""
        return self.ns(max(int(ticks) - self.begin, 0))

    def many(self, ticks: NDArray[np.generic]) -> NDArray[np.int64]:
        """Durations."""
        scaled = ticks.astype(np.float64) * self.ns_per_tick
        return np.minimum(scaled, float(LONGEST_NS // 2)).astype(np.int64)


def clock_of(header: np.void, doubts: list[str]) -> Clock:
    """The scale that a trace's header gives."""
    begin, latest = header["begin"], header["latest"]
    ticks = int(latest["ticks"]) - int(begin["ticks"])
    ns = int(latest["monotonic_ns"]) - int(begin["monotonic_ns"])
    if ticks <= 0 or not FASTEST <= ns / ticks <= SLOWEST:
        doubts.append(
            "the trace does not say how fast its clock runs: the program ended at "
            "once, or the header is damaged; a tick is taken for 1 ns"
        )
        return Clock(int(begin["ticks"]), max(ticks, 0), 1.0)
    if ns < FEWEST_NS:
        doubts.append(
            "the trace covers less than a millisecond: its times may be off by a few "
            "percent"
        )
    return Clock(int(begin["ticks"]), ns, ns / ticks)
