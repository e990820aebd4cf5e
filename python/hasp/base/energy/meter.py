# SPDX-License-Identifier: MIT
"""Energy counters and their differences over time.

An unknown energy is None, never 0: the host may have no counters, may not let us read
them (a side channel: CVE-2020-8694), or may have counters that never advance, as in
some virtual machines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

# A 32-bit counter of 61 microjoules wraps around in eleven minutes at 400 W. It must be
# read at least once per wrap-around.
READ_EVERY = 300.0  # seconds


class Counter(NamedTuple):
    """The energy counter of one package."""

    read: Callable[[], int | None]  # returns None if the counter is unreadable
    joules: float  # per step
    range: int | None  # the counter wraps to 0 after this value; None if it never wraps

    def steps(self, before: int, now: int) -> int | None:
        """Return the steps between two readings, at most one wrap-around apart."""
        if now >= before:
            return now - before
        return now - before + self.range if self.range else None


class Meter(NamedTuple):
    """The counters of all packages, whose sum is the energy of the processors."""

    source: str  # powercap or perf events
    counters: tuple[Counter, ...]

    def begin(self) -> Count:
        """Start counting."""
        return Count(self)


class Count:
    """Sums the energy since its creation; call update() every READ_EVERY seconds."""

    def __init__(self, meter: Meter) -> None:
        self._counters = meter.counters
        self._last = [counter.read() for counter in meter.counters]
        self._joules = 0.0
        self._known = bool(meter.counters) and None not in self._last

    def update(self) -> None:
        """Add the energy since the last update."""
        for index, counter in enumerate(self._counters):
            before, now = self._last[index], counter.read()
            steps = (
                None if before is None or now is None else counter.steps(before, now)
            )
            if steps is None:
                self._known = False
            else:
                self._joules += steps * counter.joules
            self._last[index] = now

    def joules(self) -> float | None:
        """Return the joules of all packages up to now; None if unknown."""
        self.update()
        return self._joules if self._known and self._joules > 0 else None
