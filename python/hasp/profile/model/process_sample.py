# SPDX-License-Identifier: MIT
"""A sample of the whole process, taken ten times a second."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessSample:
    """The process in one sample; sums are since its start."""

    at_ns: int
    threads: int
    waiting: int
    runnable: int | None
    cpu_ns: int
    system_ns: int
    minor_faults: int
    involuntary: int
    locks_created: int
    idle_ns: int = 0  # of all CPUs of the machine, since its start
    machine_cpus: int = 0  # 0: not recorded, as is idle_ns
