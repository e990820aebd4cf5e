# SPDX-License-Identifier: MIT
"""RAPL through powercap: a folder for each zone, microjoules that wrap around.

Documentation/power/powercap/powercap.rst of Linux. Zones below a package (core,
uncore, dram) are parts of it or beside it, and `psys` is the whole board with the
packages in it: only packages are summed.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hasp.base.energy.meter import Counter, Meter
from hasp.base.host import read_text

POWERCAP = Path("/sys/class/powercap")
MICRO = 1e-6


def packages(root: Path = POWERCAP) -> list[Path]:
    """The zones of packages, whether or not we may read their counters."""
    return [
        zone
        for zone in sorted(root.glob("*-rapl:*"))
        if zone.name.count(":") == 1
        and (read_text(zone / "name") or "").startswith("package")
    ]


def find(root: Path = POWERCAP) -> Meter | None:
    """The packages' counters; None where there are none, or one is not for us."""
    counters = []
    for zone in packages(root):
        read = partial(_number, zone / "energy_uj")
        if read() is None:
            return None
        counters.append(Counter(read, MICRO, _number(zone / "max_energy_range_uj")))
    return Meter("powercap", tuple(counters)) if counters else None


def _number(path: Path) -> int | None:
    text = read_text(path)
    return int(text) if text is not None and text.isdecimal() else None
