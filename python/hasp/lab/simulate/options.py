# SPDX-License-Identifier: MIT
"""Options of `hasp simulate`."""

from __future__ import annotations

from dataclasses import dataclass, field

from hasp.lab.simulate.machines.machine import Machine
from hasp.locks.native import LockInfo


@dataclass
class Options:
    """The simulations to run, and the outputs to write."""

    machine: Machine
    workload: str
    locks: list[LockInfo]
    threads: list[int] | None  # None: up to all CPUs
    placement: str
    seeds: list[int]
    warm_up_ns: int
    duration_ns: int
    knobs: dict[str, str] = field(default_factory=dict)
    jobs: int | None = None
    json: str | None = None
    plot: str | None = None
    command: str = ""
