# SPDX-License-Identifier: MIT
"""Options of `hasp predict`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.machines.speed import Speed
from hasp.profile.diagnosis.what_if.change import Change


@dataclass
class Options:
    """The trace, the machine, and the locks and threads to simulate."""

    trace: Path
    machine: Machine
    locks: str | None = None  # as --locks; None: one of each family
    threads: Sequence[int] | None = None  # None: powers of two up to all CPUs
    process: str | None = None
    rwlock: str | None = None
    changes: Sequence[Change] = field(default_factory=list)
    busy: bool = False  # threads never wait for work
    seeds: int = 1
    recorded_on: Speed | None = None  # None: by the processor in the trace
    jobs: int | None = None
    json: str | None = None
    html: str | None = None
    plot: str | None = None
