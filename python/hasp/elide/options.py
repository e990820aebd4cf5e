# SPDX-License-Identifier: MIT
"""Options of `hasp elide`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.lab.simulate.machines.machine import Machine
from hasp.predict.load import PARTS_MOST


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

    @property
    def parts(self) -> int:
        """The parts of a lock's data; sections that choose the same one conflict.

        So the shares of conflicts that can be simulated are 1, 1/2, 1/3 ...
        """
        assert self.conflicts is not None
        if self.conflicts <= 1 / PARTS_MOST:
            return PARTS_MOST
        return max(1, round(1 / self.conflicts))
