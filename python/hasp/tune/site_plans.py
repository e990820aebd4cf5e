# SPDX-License-Identifier: MIT
"""Plans to race: different locks for the two or three sites that matter."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hasp.locks import native
from hasp.locks.native import REFERENCE
from hasp.locks.site_plan.model import SitePlan
from hasp.profile.model.plan_entry import entry_of
from hasp.profile.model.profile import Kind, Profile, Site

MOST_SITES = 3
MATTERS_FROM = 0.1  # of the time that threads wait for mutexes
LOCKS = 3  # the leading locks, in all combinations over the first two sites
MOST_PLANS = LOCKS * (LOCKS - 1)  # combinations of different locks


def sites_that_matter(profile: Profile) -> list[Site]:
    """Return the sites with a large share of all waiting, the largest first.

    Sites whose creation was not recorded are left out, because a plan cannot name them.
    """
    waits = [(_waited(site), site) for site in profile.sites if site.kind == Kind.MUTEX]
    total = sum(wait for wait, _ in waits)
    found = [
        (wait, site)
        for wait, site in waits
        if total and wait >= MATTERS_FROM * total and site.origins
    ]
    found.sort(key=lambda pair: -pair[0])
    return [site for _, site in found[:MOST_SITES]]


def _waited(site: Site) -> int:
    return site.total.wait.total_ns if site.total else 0


def plans_of(sites: Sequence[Site], locks: Sequence[str]) -> list[SitePlan]:
    """Return plans with different locks at the first two sites.

    `locks` are the leading ones, the best first; a third site gets the best, and all
    other mutexes keep glibc's algorithm. Without two sites or two locks there are none.
    """
    default = native.default_lock().name
    chosen = list(dict.fromkeys(default if n == REFERENCE else n for n in locks))[
        :LOCKS
    ]
    if len(sites) < 2 or len(chosen) < 2:
        return []
    found = []
    for pair in itertools.permutations(chosen, 2):
        used = [*pair, *[chosen[0]] * (len(sites) - 2)]
        entries = [
            entry_of(site.name, lock, origin)
            for site, lock in zip(sites, used, strict=True)
            for origin in site.origins
        ]
        found.append(SitePlan(tuple(entries), default, f"plan:{' + '.join(used)}"))
    return found
