# SPDX-License-Identifier: MIT
"""Subtract from the time between sections what the simulation adds to it.

The recorded time between sections includes what taking and releasing free locks costs.
The simulator also charges that, and its own bookkeeping. So one thread of each role is
simulated alone, and the time by which it is slower than recorded is subtracted.
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
    alone = replace(role, recorded=1, scales=True)
    load = replace(runs.load, roles=(alone,))
    case = Case(lock, 1, ALONE)
    outcome = runs.of(load).run([case], width)[case]
    if not outcome.throughput:
        return role
    numbers = visits_per_section(load, alone)
    held = sum(n * ns for n, ns in zip(numbers, alone.holds_ns, strict=True))
    added = 1 / outcome.throughput - role.gap_ns - held
    return replace(role, gap_ns=max(0.0, role.gap_ns - max(0.0, added)))
