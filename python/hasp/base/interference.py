# SPDX-License-Identifier: MIT
"""What disturbs measurements: counters that are read before and after.

They are of the CPUs that are used: what others do elsewhere costs us little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass, fields
from pathlib import Path

from hasp.base.host import cgroup_folders, read_text

STAT = Path("/proc/stat")
CPUS = Path("/sys/devices/system/cpu")
# Columns of a CPU's line in /proc/stat, in ticks (proc_stat(5)).
BUSY = (1, 2, 3, 6, 7)  # user, nice, system, irq, softirq
STEAL = 8


@dataclass(frozen=True)
class Interference:
    """Sums since the machine began; subtract two to see a period."""

    steal: float  # seconds that the hypervisor gave to others
    cpu_time: float  # seconds of all CPUs that passed
    throttled: int  # times that the CPU quota stopped us
    busy: float = 0.0  # seconds in which a program, ours or another, or the kernel ran
    heated: int = 0  # times that a CPU was slowed down because it was hot

    @property
    def steal_share(self) -> float:
        """Which share of all CPU time the hypervisor gave to others."""
        return self.steal / self.cpu_time if self.cpu_time > 0 else 0.0

    def others(self, ours: float) -> float:
        """Seconds that other programs used, where ours used so many."""
        return max(0.0, self.busy - ours)

    def other_share(self, ours: float) -> float:
        """Which share of all CPU time that is."""
        return self.others(ours) / self.cpu_time if self.cpu_time > 0 else 0.0

    def __sub__(self, earlier: Interference) -> Interference:
        return Interference(
            *(
                getattr(self, field.name) - getattr(earlier, field.name)
                for field in fields(self)
            )
        )


def interference(
    of: Collection[int] = (), *, stat: Path = STAT, cpus: Path = CPUS
) -> Interference:
    """The counters of some CPUs, or of all that we may use, now."""
    allowed = of or os.sched_getaffinity(0)
    lines = [line.split() for line in (read_text(stat) or "").splitlines()]
    ours = [words for words in lines if words[0] in {f"cpu{n}" for n in allowed}]
    if len(ours) < len(allowed):  # a container may number its CPUs anew
        ours = [words for words in lines if words[:1] == ["cpu"]]
    ticks = os.sysconf("SC_CLK_TCK")

    def seconds(*columns: int) -> float:
        return sum(
            int(words[column]) / ticks
            for words in ours
            for column in columns
            if column < len(words)
        )

    return Interference(
        steal=seconds(STEAL),
        cpu_time=time.monotonic() * len(allowed),
        throttled=_throttled(),
        busy=seconds(*BUSY),
        heated=sum(_heated(cpus / f"cpu{number}") for number in allowed),
    )


def _throttled() -> int:
    counts = [0]
    for _, folder in cgroup_folders():
        for line in (read_text(folder / "cpu.stat") or "").splitlines():
            if line.startswith("nr_throttled "):
                counts.append(int(line.split()[1]))
    return max(counts)


def _heated(cpu: Path) -> int:
    """How often a CPU was too hot, where the processor counts it (Intel's do)."""
    text = read_text(cpu / "thermal_throttle" / "core_throttle_count")
    return int(text) if text and text.isdecimal() else 0
