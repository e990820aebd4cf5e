# SPDX-License-Identifier: MIT
"""One process of a merged profile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessRow:
    """The sums of a process; times in ns."""

    pid: int
    command: tuple[str, ...]
    threads: int
    began_ns: int  # since the beginning of the first process
    duration_ns: int
    cpu_ns: int
    wait_ns: int
    section_share: float
    worst: str  # the site with the largest share; "" if no lock was used
