# SPDX-License-Identifier: MIT
"""The plan that follows from a verdict: a lock for each site with a recommendation."""

from __future__ import annotations

from hasp.locks import native
from hasp.locks.kinds import SPINLOCK
from hasp.locks.site_plan.model import SitePlan
from hasp.locks.site_plan.name import is_plan
from hasp.profile.diagnosis.verdict import Verdict
from hasp.profile.model.plan_entry import entry_of
from hasp.profile.model.profile import Profile


def plan_of(verdict: Verdict, profile: Profile) -> SitePlan:
    """Return a plan with an entry for each origin of every site with a recommendation.

    All other mutexes keep the lock that the program ran under. If it ran under glibc's
    lock or a plan, they get `futex`, which is bit-compatible with glibc's lock.
    """
    sites = {site.number: site for site in profile.sites}
    entries = [
        entry_of(advised.name, advised.recommendation, origin)
        for advised in verdict.sites
        if advised.recommendation
        for origin in sites[advised.site].origins
    ]
    entries += [
        entry_of(other.name, other.algorithm, origin, other.kind)
        for other in verdict.other_kinds
        if other.kind != SPINLOCK.name  # a plan cannot name one
        for origin in sites[other.site].origins
    ]
    ran_under = profile.lock
    if not ran_under or is_plan(ran_under) or native.lock(ran_under).is_reference:
        ran_under = native.default_lock().name
    return SitePlan(tuple(entries), ran_under)


def unplanned(verdict: Verdict, profile: Profile) -> list[str]:
    """Return sites with a recommendation that a plan cannot name, lacking an origin."""
    sites = {site.number: site for site in profile.sites}
    return [
        advised.name
        for advised in verdict.sites
        if advised.recommendation and not sites[advised.site].origins
    ]
