# SPDX-License-Identifier: MIT
"""Find threads that wait for each other at a barrier made of a mutex.

At such a barrier (PARSEC's streamcluster has one), each thread locks the mutex in order
to arrive, and watches a flag until all have arrived. Then each but the last one
acquires the mutex by repeated trylock in order to leave. So in a recording all threads
lock it equally often, and all but one of them take it by trylock as often as that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from hasp.predict.load import LoadSite, Role
from hasp.profile.model.profile import Operation, Profile, Site

EQUAL = 0.02  # largest difference of two numbers that should be the same, relative
LEAST = 100  # arrivals of each thread; fewer may be equal by accident


def meetings_of(profile: Profile) -> dict[int, float]:
    """Return sites where threads meet -> which share of acquisitions are arrivals."""
    found = {site.number: _arriving(site) for site in profile.sites}
    return {number: share for number, share in found.items() if share}


def _arriving(site: Site) -> float:
    """Return 0 if the threads do not meet at the site."""
    total = site.stats.get(Operation.LOCK)
    if total is None or len(site.locks) != 1 or len(site.stats) != 1:
        return 0.0
    uses = [operations[Operation.LOCK] for operations in site.threads.values()]
    left = total.trylocks - total.trylock_failures
    arrivals = [
        use.acquisitions - (use.trylocks - use.trylock_failures) for use in uses
    ]
    whole = sum(arrivals)
    expected = whole * (1 - 1 / len(arrivals))
    if len(arrivals) < 2 or min(arrivals) < LEAST:
        return 0.0
    alike = max(arrivals) - min(arrivals) <= EQUAL * min(arrivals)
    return whole / total.acquisitions if alike and _near(left, expected) else 0.0


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= EQUAL * other


def meeting_sites(
    sites: Sequence[LoadSite], meetings: Collection[int]
) -> tuple[LoadSite, ...]:
    """Return the sites, at some of which threads meet."""
    return tuple(replace(site, meets=site.number in meetings) for site in sites)


def meeting_role(
    role: Role, order: Sequence[int], meetings: Mapping[int, float]
) -> Role:
    """Return a role whose sections to leave belong to those before them.

    `order` has the numbers of the sites.
    """
    visits = [(at, share * meetings.get(order[at], 1.0)) for at, share in role.visits]
    left = sum(share for _, share in visits)
    return replace(
        role,
        gap_ns=role.gap_ns / left,
        kernel_ns=None if role.kernel_ns is None else role.kernel_ns / left,
        visits=tuple((at, share / left) for at, share in visits),
        rate=role.rate * left,
        idle_ns=role.idle_ns / left,
        waits=role.waits / left,
        gaps=None if left < 1 else role.gaps,
    )
