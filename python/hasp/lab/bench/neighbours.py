# SPDX-License-Identifier: MIT
"""How much of the CPUs went to other programs while something was measured."""

from __future__ import annotations

import os
import resource
from pathlib import Path

STAT = Path("/proc/stat")
# The columns of a cpu line, see proc(5); guest time is in user time already.
USER_TO_SOFTIRQ = (0, 1, 2, 5, 6)
STEAL = 7
COLUMNS = 8


class Neighbours:
    """Compares what the CPUs did with what this process and its children did."""

    def __init__(self) -> None:
        self._start = _cpu_seconds(), _own_seconds()

    def share(self) -> float | None:
        """The share of these CPUs that others had since the start; None: unknown."""
        (before, own_before), now = self._start, _cpu_seconds()
        if before is None or now is None or now[1] <= before[1]:
            return None
        busy, total = now[0] - before[0], now[1] - before[1]
        others = busy - (_own_seconds() - own_before)
        return min(1.0, max(0.0, others / total))


def _cpu_seconds() -> tuple[float, float] | None:
    """Seconds that were busy (or taken by the host) and all, of the CPUs we may use."""
    tick = os.sysconf("SC_CLK_TCK")
    wanted = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    busy = total = 0.0
    try:
        for line in STAT.read_text().splitlines():
            name, *words = line.split()
            if name in wanted:
                ticks = [int(word) for word in words[:COLUMNS]]
                busy += sum(ticks[place] for place in (*USER_TO_SOFTIRQ, STEAL)) / tick
                total += sum(ticks) / tick
    except (OSError, ValueError, IndexError):
        return None
    return busy, total


def _own_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(
            resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
    )
