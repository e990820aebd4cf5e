# SPDX-License-Identifier: MIT
"""Convert the ticks of a trace to nanoseconds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hasp.profile.trace.format import bucket_edges

LONGEST_NS = 1 << 62  # longer durations come from damage and are cut to this
# Nanoseconds per tick: constant counters run at 10 MHz to 10 GHz.
FASTEST, SLOWEST = 0.1, 100.0
# shortest span between the two readings that gives a scale accurate to 0.1 %
FEWEST_NS = 1_000_000


class Clock(NamedTuple):
    """The time scale, from two readings of both clocks."""

    begin: int  # ticks
    duration_ns: int
    ns_per_tick: float

    def ns(self, ticks: int | np.integer | float) -> int:
        """Return a duration in ns."""
        return min(int(int(ticks) * self.ns_per_tick), LONGEST_NS)

    def edges_ns(self) -> tuple[float, ...]:
        """Return the edges of a trace's histograms in ns."""
        return tuple(edge * self.ns_per_tick for edge in bucket_edges())

    def at(self, ticks: int | np.integer) -> int:
        """Return a time in ns since the start of the trace; earlier ticks give 0."""
        return self.ns(max(int(ticks) - self.begin, 0))

    def many(self, ticks: NDArray[np.generic]) -> NDArray[np.int64]:
        """Return an array of durations in ns."""
        scaled = ticks.astype(np.float64) * self.ns_per_tick
        return np.minimum(scaled, float(LONGEST_NS // 2)).astype(np.int64)


def clock_of(header: np.void, doubts: list[str]) -> Clock:
    """Return the scale in a trace's header; problems are appended to `doubts`."""
    begin, latest = header["begin"], header["latest"]
    ticks = int(latest["ticks"]) - int(begin["ticks"])
    ns = int(latest["monotonic_ns"]) - int(begin["monotonic_ns"])
    if ticks <= 0 or not FASTEST <= ns / ticks <= SLOWEST:
        doubts.append(
            "the speed of the trace's clock is not known: the program ended at once, "
            "or the header is damaged; one tick is taken as 1 ns"
        )
        return Clock(int(begin["ticks"]), max(ticks, 0), 1.0)
    if ns < FEWEST_NS:
        doubts.append(
            "the trace covers less than a millisecond: its times may be wrong by a few "
            "percent"
        )
    return Clock(int(begin["ticks"]), ns, ns / ticks)
