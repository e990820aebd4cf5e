# SPDX-License-Identifier: MIT
"""RAPL through powercap: a folder per zone, with microjoules that wrap around.

See Documentation/power/powercap/powercap.rst in Linux. Only packages are summed: core
and uncore zones are parts of a package, dram is separate, and `psys` is the whole board
including the packages.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hasp.base.energy.meter import Counter, Meter
from hasp.base.host import read_text

POWERCAP = Path("/sys/class/powercap")
MICRO = 1e-6


def packages(root: Path = POWERCAP) -> list[Path]:
    """Return the zones of packages, including those with unreadable counters."""
    return [
        zone
        for zone in sorted(root.glob("*-rapl:*"))
        if zone.name.count(":") == 1
        and (read_text(zone / "name") or "").startswith("package")
    ]


def find(root: Path = POWERCAP) -> Meter | None:
    """Return the packages' counters; None if there are none, or one is unreadable."""
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
