# SPDX-License-Identifier: MIT
"""A thread of a profile."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.profile.model.distribution import NOTHING, Distribution
from hasp.profile.model.kinds import Operation
from hasp.profile.symbols.frame import Stack


@dataclass(frozen=True)
class Thread:
    """One thread, or successive threads that shared a record."""

    number: int
    tid: int
    name: str
    began_ns: int
    ended_ns: int | None
    section_ns: int
    wait_ns: int
    idle_ns: int
    cpu_ns: int
    voluntary: int
    involuntary: int
    minor_faults: int
    major_faults: int
    migrations: int
    long_holds: int
    preempted_holds: int
    waiting_for: int | None  # lock number; set if it was waiting when the trace ended
    waiting_since_ns: int | None
    held: tuple[int, ...]  # lock numbers
    waiting_to: Operation | None = None
    waiting_stack: Stack = ()  # of the wait, if it was recorded
    earlier: int = 0  # ended threads that used the record before
    overhead_ns: int = 0  # spent on recording
    between: Distribution = NOTHING  # from a release to the next acquisition
    # Parts of `cpu_ns`, which most kernels estimate by ticks. None: not recorded.
    user_ns: int | None = None
    system_ns: int | None = None
