# SPDX-License-Identifier: MIT
"""The plan that follows from a verdict: a lock for each site that should have one."""

from __future__ import annotations

from hasp import native
from hasp.advisor.verdict import Verdict
from hasp.plan.model import Entry, Module, Plan
from hasp.profile.model import Origin, Profile


def plan_of(verdict: Verdict, profile: Profile) -> Plan:
    """An entry for each origin of each site with a recommendation.

    All other mutexes keep the lock that the program ran under; glibc's is `futex` here,
    which is bit-compatible with it.
    """
    sites = {site.number: site for site in profile.sites}
    entries = [
        _entry(advised.name, advised.recommendation, origin)
        for advised in verdict.sites
        if advised.recommendation
        for origin in sites[advised.site].origins
    ]
    ran_under = profile.lock
    if not ran_under or native.lock(ran_under).is_reference:
        ran_under = native.default_lock().name
    return Plan(tuple(entries), ran_under)


def _entry(site: str, lock: str, origin: Origin) -> Entry:
    module = Module(origin.module, origin.build_id)
    if origin.address_offset is not None:
        return Entry.lying_at(site, lock, module, origin.address_offset)
    return Entry.made_at(site, lock, [(module, offset) for offset in origin.offsets])


def unplanned(verdict: Verdict, profile: Profile) -> list[str]:
    """Sites with a recommendation that no plan can hold: their origin is unknown."""
    sites = {site.number: site for site in profile.sites}
    return [
        advised.name
        for advised in verdict.sites
        if advised.recommendation and not sites[advised.site].origins
    ]
