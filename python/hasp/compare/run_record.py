# SPDX-License-Identifier: MIT
"""One run as data: its measurements, or how it failed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from hasp.compare.settings import Cell, Metric

OK = "ok"
FAILED = "failed"
HUNG = "hung"
DIFFERENT = "different"
NO_FIGURE = "no figure"
SERVER_FAILED = "server failed"


@dataclass(frozen=True)
class Measure:
    """A measured quantity: its name, its unit, and whether lower is better."""

    name: str
    unit: str
    lower_is_better: bool = True


WALL = Measure("wall time", "s")
CPU = Measure("CPU time", "s")
MEMORY = Measure("peak memory", "bytes")
RESOURCES = (WALL, CPU, MEMORY)
ENERGY = Measure("energy", "J")  # of the whole host, where it has a counter


def measure_of(metric: Metric) -> Measure:
    """Return the measure for one of the program's own figures."""
    return Measure(metric.name, metric.unit, metric.lower_is_better)


@dataclass(frozen=True)
class Run:
    """One run of one cell.

    CPU time and memory are those of the program under the lock. With a server that is
    the server; the resources of its load are in `load_*`.
    """

    block: int  # number of the round: from 1 if measured, up to 0 for warm-up
    lock: str
    threads: int | None
    outcome: str
    detail: str = ""
    started_s: float = 0.0  # since the start of the comparison
    exit_code: int | None = None
    wall_s: float | None = None
    user_s: float | None = None
    system_s: float | None = None
    peak_bytes: int | None = None
    switches: int | None = None
    preemptions: int | None = None
    load_user_s: float | None = None
    load_system_s: float | None = None
    load_peak_bytes: int | None = None
    steal: float = 0.0  # share of CPU time that the hypervisor took
    throttled: int = 0  # times that the CPU quota stopped us
    other_s: float = 0.0  # CPU seconds that other programs used
    other_load: float = 0.0  # the same as a share of all CPU time
    heated: int = 0  # times that a CPU was throttled because it was hot
    energy_j: float | None = None  # of the whole host; None if it has no counter
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def cell(self) -> Cell:
        """Return the cell of this run."""
        return Cell(self.lock, self.threads)

    @property
    def measured(self) -> bool:
        """Return true if the run counts: it succeeded and was not a warm-up."""
        return self.block > 0 and self.outcome == OK

    @property
    def all_cpu_s(self) -> float:
        """CPU seconds of all processes started, including the load."""
        parts = (self.user_s, self.system_s, self.load_user_s, self.load_system_s)
        return sum(part or 0.0 for part in parts)

    def value(self, measure: Measure) -> float | None:
        """Return the run's value for a measure; None if it has none."""
        if measure == WALL:
            return self.wall_s
        if measure == MEMORY:
            return self.peak_bytes
        if measure == CPU:
            if self.user_s is None or self.system_s is None:
                return None
            return self.user_s + self.system_s
        if measure == ENERGY:
            return self.energy_j
        return self.figures.get(measure.name)

    def as_json(self) -> dict[str, Any]:
        """Return the run's fields, and a flag for warm-up runs."""
        return {**asdict(self), "warmup": self.block < 1}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Run:
        """Return the inverse of `as_json`; unknown fields are ignored."""
        known = {item.name for item in fields(cls)}
        return cls(**{name: value for name, value in record.items() if name in known})
