# SPDX-License-Identifier: MIT
"""The other program that used most CPU time during a recording."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Neighbour:
    """Another program on the machine, all its processes together."""

    name: str  # as in /proc/PID/comm, at most 15 bytes
    cpus: float  # its CPU time divided by the elapsed time
