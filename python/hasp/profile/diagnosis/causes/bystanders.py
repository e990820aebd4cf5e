# SPDX-License-Identifier: MIT
"""Threads that never take a lock, but use the CPUs that its holders need."""

from __future__ import annotations

from collections.abc import Iterable

from hasp.profile.diagnosis.causes.limits import FEW_SAMPLES
from hasp.profile.model.holding import HolderState
from hasp.profile.model.profile import Site, Thread


def without_cpu(site: Site) -> float:
    """Return the share of samples of holders that were ready to run; 0 if too few."""
    holding = site.holding
    if holding is None or holding.samples < FEW_SAMPLES:
        return 0.0
    return holding.share(HolderState.READY)


def share_of_others(users: Iterable[Thread], cpu_ns: float) -> float:
    """Return the share of the program's CPU time that these threads did not use."""
    used = sum(thread.cpu_ns for thread in users)
    return max(1 - used / cpu_ns, 0.0) if cpu_ns else 0.0
