# SPDX-License-Identifier: MIT
"""Counters of energy, and how much they count over a while.

What cannot be told is None, never 0: a host without counters, one that does not let us
read them (they tell what others compute: CVE-2020-8694), or a counter that stands
still, as in some virtual machines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

# Counters of 32 bits of 61 microjoules go round in eleven minutes at 400 W; one that
# goes round twice between two looks cannot be told from one that does not.
LOOK_EVERY = 300.0  # seconds


class Counter(NamedTuple):
    """One counter of one package."""

    read: Callable[[], int | None]  # None: it cannot be read
    joules: float  # for one step of it
    range: int | None  # it begins again from 0 behind that; None: it never does

    def steps(self, before: int, now: int) -> int | None:
        """How far it went; it may have gone round once."""
        if now >= before:
            return now - before
        return now - before + self.range if self.range else None


class Meter(NamedTuple):
    """The counters of all packages; their sum is what the processors use."""

    source: str  # powercap or perf events
    counters: tuple[Counter, ...]

    def begin(self) -> Count:
        """Begin to count."""
        return Count(self)


class Count:
    """The energy since it began; needs a look every LOOK_EVERY seconds."""

    def __init__(self, meter: Meter) -> None:
        self._counters = meter.counters
        self._last = [counter.read() for counter in meter.counters]
        self._joules = 0.0
        self._known = bool(meter.counters) and None not in self._last

    def look(self) -> None:
        """Add up what has passed."""
        for place, counter in enumerate(self._counters):
            before, now = self._last[place], counter.read()
            steps = (
                None if before is None or now is None else counter.steps(before, now)
            )
            if steps is None:
                self._known = False
            else:
                self._joules += steps * counter.joules
            self._last[place] = now

    def joules(self) -> float | None:
        """The joules of all packages up to now; None if they cannot be told."""
        self.look()
        return self._joules if self._known and self._joules > 0 else None
