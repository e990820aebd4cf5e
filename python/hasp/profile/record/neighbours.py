# SPDX-License-Identifier: MIT
"""Which other program used most CPU time while a program was recorded.

The load of a server often runs on the same machine, so a report names the program that
took the CPUs, and the reader decides whether it belongs there.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

from hasp.profile.model.neighbour import Neighbour

PROC = Path("/proc")
MOST_PROCESSES = 5000  # reading one takes about 20 us; more are not looked at
LEAST = 0.05  # CPUs; programs that used less do not matter
COST = 0.005  # CPUs that looking may use


class Neighbours:
    """The CPU times of all other processes since recording began."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._first = _cpu_times()
        self._latest = dict(self._first or {})
        self._next = 0.0

    def look(self) -> None:
        """Read the CPU times again, unless that was done a moment ago.

        CPU time that a process uses after the last look at it is not counted.
        """
        begin = time.monotonic()
        if begin >= self._next:
            self._latest.update(_cpu_times() or {})
            end = time.monotonic()
            self._next = end + (end - begin) / COST

    def busiest(self, program: str, recorded: Collection[int] = ()) -> Neighbour | None:
        """Return the other program that has used most CPU time.

        `recorded` are the numbers of the recorded processes, which are left out, as are
        processes with the recorded program's name, `program`: its own may have outlived
        it. None if there were too many processes when recording began.
        """
        if self._first is None:
            return None
        self._next = 0.0
        self.look()
        elapsed = time.monotonic() - self._began
        used: dict[str, float] = defaultdict(float)
        for key, (name, seconds) in self._latest.items():
            if key[0] not in recorded:
                used[name] += seconds - self._first.get(key, (name, 0.0))[1]
        used.pop(program, None)
        if not used or elapsed <= 0:
            return None
        name = max(used, key=used.__getitem__)
        cpus = used[name] / elapsed
        return Neighbour(name, cpus) if cpus >= LEAST else None


def _cpu_times() -> dict[tuple[int, str], tuple[str, float]] | None:
    """Return names and CPU seconds of the other processes, by number and start time.

    None if there are too many of them.
    """
    ticks = os.sysconf("SC_CLK_TCK")
    numbers = [entry.name for entry in os.scandir(PROC) if entry.name.isdecimal()]
    if len(numbers) > MOST_PROCESSES:
        return None
    found = {}
    for number in numbers:
        if int(number) == os.getpid():
            continue
        try:
            line = (PROC / number / "stat").read_text(errors="replace")
        except OSError:
            continue  # it has ended, or is hidden
        # proc_stat(5): the name is in parentheses and may contain any character.
        head, _, rest = line.rpartition(")")
        name, fields = head.partition("(")[2], rest.split()
        user, system, started = int(fields[11]), int(fields[12]), fields[19]
        found[int(number), started] = (name, (user + system) / ticks)
    return found
