# SPDX-License-Identifier: MIT
"""Counters of disturbances, read before and after a measurement.

They cover only the CPUs that the measurement uses: activity elsewhere has little
effect.
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
    """Sums since boot; the difference of two covers the period between them."""

    steal: float  # seconds that the hypervisor gave to other machines
    cpu_time: float  # elapsed seconds times CPUs
    throttled: int  # times that the CPU quota stopped this process
    busy: float = 0.0  # CPU seconds of all programs and the kernel
    heated: int = 0  # times that a CPU was throttled because of its temperature

    @property
    def steal_share(self) -> float:
        """The share of CPU time that the hypervisor gave to other machines."""
        return self.steal / self.cpu_time if self.cpu_time > 0 else 0.0

    def others(self, ours: float) -> float:
        """CPU seconds of other programs, given the CPU seconds of ours."""
        return max(0.0, self.busy - ours)

    def other_share(self, ours: float) -> float:
        """Return the share of CPU time that other programs used."""
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
    """Return the current counters of some CPUs, or of all usable ones."""
    allowed = of or os.sched_getaffinity(0)
    lines = [line.split() for line in (read_text(stat) or "").splitlines()]
    ours = [words for words in lines if words[0] in {f"cpu{n}" for n in allowed}]
    if len(ours) < len(allowed):  # a container may renumber its CPUs
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
    """Return how often a CPU was throttled; only Intel processors count this."""
    text = read_text(cpu / "thermal_throttle" / "core_throttle_count")
    return int(text) if text and text.isdecimal() else 0
