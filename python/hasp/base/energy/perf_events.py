# SPDX-License-Identifier: MIT
"""RAPL through perf: the event `power/energy-pkg/`, one counter per package.

/sys/bus/event_source/devices/power has the event's code (`events/energy-pkg`), the
joules per step (`.scale`) and one CPU of each package (`cpumask`). The kernel keeps 64
bits, which never wrap. perf_event_open(2) needs root, CAP_PERFMON, or
perf_event_paranoid below 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hasp.base.energy.meter import Counter, Meter
from hasp.base.host import cpu_list, read_text
from hasp.base.system_calls import perf_event

POWER = Path("/sys/bus/event_source/devices/power")
EVENT = "energy-pkg"

# Opens an event by type and config on a CPU; returns a negative errno on failure.
Open = Callable[[int, int, int], int]


def _open(kind: int, config: int, cpu: int) -> int:
    return perf_event(kind, config, process=-1, cpu=cpu)


def find(root: Path = POWER, opened: Open = _open) -> Meter | None:
    """Return the packages' counters; None if there are none, or they are unreadable."""
    kind = read_text(root / "type")
    event = re.search(r"event=(\w+)", read_text(root / "events" / EVENT) or "")
    scale = read_text(root / "events" / f"{EVENT}.scale")
    cpus = read_text(root / "cpumask")
    if kind is None or event is None or scale is None or not cpus:
        return None
    descriptors: list[int] = []
    for cpu in cpu_list(cpus):
        descriptor = opened(int(kind), int(event[1], 0), cpu)
        if descriptor < 0:
            for other in descriptors:
                os.close(other)
            return None
        descriptors.append(descriptor)
    counters = (
        Counter(partial(_read, descriptor), float(scale), None)
        for descriptor in descriptors
    )
    return Meter("perf events", tuple(counters))


def _read(descriptor: int) -> int | None:
    try:
        return int.from_bytes(os.read(descriptor, 8), "little")
    except OSError:
        return None
