# SPDX-License-Identifier: MIT
"""The share of the CPUs that other programs used during a measurement."""

from __future__ import annotations

import os
import resource
from pathlib import Path

STAT = Path("/proc/stat")
# Columns of a cpu line, see proc(5); user time includes guest time.
USER_TO_SOFTIRQ = (0, 1, 2, 5, 6)
STEAL = 7
COLUMNS = 8


class Neighbours:
    """Compares the CPUs' busy time with that of this process and its children."""

    def __init__(self) -> None:
        self._start = _cpu_seconds(), _own_seconds()

    def share(self) -> float | None:
        """Return the share of these CPUs that others used since the start, or None."""
        (before, own_before), now = self._start, _cpu_seconds()
        if before is None or now is None or now[1] <= before[1]:
            return None
        busy, total = now[0] - before[0], now[1] - before[1]
        others = busy - (_own_seconds() - own_before)
        return min(1.0, max(0.0, others / total))


def _cpu_seconds() -> tuple[float, float] | None:
    """Return busy (or stolen) and total seconds of the CPUs that we may use."""
    tick = os.sysconf("SC_CLK_TCK")
    wanted = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    busy = total = 0.0
    try:
        for line in STAT.read_text().splitlines():
            name, *words = line.split()
            if name in wanted:
                ticks = [int(word) for word in words[:COLUMNS]]
                busy += sum(ticks[index] for index in (*USER_TO_SOFTIRQ, STEAL)) / tick
                total += sum(ticks) / tick
    except (OSError, ValueError, IndexError):
        return None
    return busy, total


def _own_seconds() -> float:
    """Return the CPU seconds of this process and of its ended children."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(
            resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
    )
