# SPDX-License-Identifier: MIT
"""Subtract from the time between sections what the simulation adds to it.

The recorded time between sections includes what taking and releasing free locks costs.
The simulator also charges that. So one thread of each role is simulated alone, and the
time by which it is slower than recorded is subtracted. The recorded waits for work
include the time to wake up; that is subtracted from them in the same way.
"""

from __future__ import annotations

from dataclasses import replace

from hasp.predict.changes import visits_per_section
from hasp.predict.load import Load, Role, Variant
from hasp.predict.runs import Case, Runs

ALONE = Variant(varies=False, lines=1, seed=1)


def calibrated(runs: Runs, lock: str, width: int | None) -> Load:
    """Return the load of `runs` with shorter times between sections.

    `lock` is the lock of the recording; up to `width` simulations run at once.
    """
    roles = tuple(_calibrated(runs, role, lock, width) for role in runs.load.roles)
    return replace(runs.load, roles=roles)


def _calibrated(runs: Runs, role: Role, lock: str, width: int | None) -> Role:
    added = _added(runs, replace(role, idle_ns=0.0), lock, width)
    awake = replace(role, gap_ns=max(0.0, role.gap_ns - added))
    if not role.idle_ns:
        return awake
    added = _added(runs, awake, lock, width)
    return replace(awake, idle_ns=max(0.0, role.idle_ns - added))


def _added(runs: Runs, role: Role, lock: str, width: int | None) -> float:
    """Return the time in ns that a simulated section takes longer, at least 0."""
    alone = replace(role, recorded=1, scales=True, puts=(), takes=frozenset())
    load = replace(runs.load, roles=(alone,))
    case = Case(lock, 1, ALONE)
    outcome = runs.of(load).run([case], width)[case]
    if not outcome.throughput:
        return 0.0
    numbers = visits_per_section(load, alone)
    held = sum(n * ns for n, ns in zip(numbers, alone.holds_ns, strict=True))
    return max(0.0, 1 / outcome.throughput - role.gap_ns - role.idle_ns - held)
