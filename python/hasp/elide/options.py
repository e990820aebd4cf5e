# SPDX-License-Identifier: MIT
"""Options of `hasp elide`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.lab.simulate.machines.machine import Machine


@dataclass(frozen=True)
class Options:
    """The trace, the machine with transactions, and what is assumed about the data."""

    trace: Path
    machine: Machine
    lock: str = "futex"  # that sections take if they cannot be elided
    threads: Sequence[int] | None = None  # None: 1, the recorded ones and all CPUs
    conflicts: float | None = None  # of two sections of a lock; None: none and all
    process: str | None = None
    busy: bool = False  # threads never wait for work
    budget_s: float | None = None
    jobs: int | None = None
    json: str | None = None
