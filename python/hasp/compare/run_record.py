# SPDX-License-Identifier: MIT
"""One run as data: what was measured, or how it went wrong."""

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
    """A quantity that every run has: how it is called and which way is better."""

    name: str
    unit: str
    lower_is_better: bool = True


WALL = Measure("wall time", "s")
CPU = Measure("CPU time", "s")
MEMORY = Measure("peak memory", "bytes")
RESOURCES = (WALL, CPU, MEMORY)


def measure_of(metric: Metric) -> Measure:
    """The measure of one of the program's own figures."""
    return Measure(metric.name, metric.unit, metric.lower_is_better)


@dataclass(frozen=True)
class Run:
    """One run of one cell. With a server, `cpu` and `peak` are the server's.

    What runs under the lock is what counts; the load's own use is in `load_*`.
    """

    block: int  # measured ones from 1; warm-up up to 0
    lock: str
    threads: int | None
    outcome: str
    detail: str = ""
    started_s: float = 0.0  # since the study began
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
    steal: float = 0.0  # share of CPU time that the hypervisor kept
    throttled: int = 0  # times that the CPU quota stopped us
    other_s: float = 0.0  # CPU seconds that other programs used
    other_load: float = 0.0  # share of CPU time that this is
    heated: int = 0  # times that a CPU was slowed down because it was hot
    energy_j: float | None = None  # of the whole machine; None: the host does not tell
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def cell(self) -> Cell:
        """Where it belongs in the table."""
        return Cell(self.lock, self.threads)

    @property
    def measured(self) -> bool:
        """Whether it counts: not a warm-up, and it went well."""
        return self.block > 0 and self.outcome == OK

    @property
    def all_cpu_s(self) -> float:
        """CPU seconds of all that was started, the load included."""
        parts = (self.user_s, self.system_s, self.load_user_s, self.load_system_s)
        return sum(part or 0.0 for part in parts)

    def value(self, measure: Measure) -> float | None:
        """Its sample of a measure."""
        if measure == WALL:
            return self.wall_s
        if measure == MEMORY:
            return self.peak_bytes
        if measure == CPU:
            if self.user_s is None or self.system_s is None:
                return None
            return self.user_s + self.system_s
        return self.figures.get(measure.name)

    def as_json(self) -> dict[str, Any]:
        """Its fields, and whether it was a warm-up."""
        return {**asdict(self), "warmup": self.block < 1}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Run:
        """The reverse of as_json; unknown fields of newer versions are left out."""
        known = {item.name for item in fields(cls)}
        return cls(**{name: value for name, value in record.items() if name in known})
