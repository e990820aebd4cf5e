# SPDX-License-Identifier: MIT
"""The energy counters of the processor packages, where the kernel shows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hasp.host import read_text

POWERCAP = Path("/sys/class/powercap")


@dataclass(frozen=True)
class Meter:
    """RAPL through powercap: microjoules that wrap around."""

    counters: tuple[Path, ...]
    limits: tuple[int, ...]

    @staticmethod
    def find(root: Path = POWERCAP) -> Meter | None:
        """The packages' counters; None where there are none, or not for us."""
        counters, limits = [], []
        for zone in sorted(root.glob("*-rapl:*")):
            if zone.name.count(":") != 1 or read_text(zone / "energy_uj") is None:
                continue
            counters.append(zone / "energy_uj")
            limits.append(int(read_text(zone / "max_energy_range_uj") or 0))
        return Meter(tuple(counters), tuple(limits)) if counters else None

    def joules(self) -> tuple[int, ...]:
        """What the counters show, in microjoules."""
        return tuple(int(read_text(path) or 0) for path in self.counters)

    def joules_since(self, before: tuple[int, ...]) -> float:
        """Joules of all packages since then; a counter may have wrapped once."""
        total = 0
        for now, then, limit in zip(self.joules(), before, self.limits, strict=True):
            total += now - then if now >= then else now - then + limit
        return total / 1e6
