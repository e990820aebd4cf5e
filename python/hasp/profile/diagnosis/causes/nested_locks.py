# SPDX-License-Identifier: MIT
"""Threads wait for an inner lock, or use it, while they hold an outer one."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import MOST
from hasp.profile.diagnosis.causes.words import call, share, short_site, time
from hasp.profile.model.profile import Site

INNER = 36  # characters of the inner lock's name
EDGES = 10_000  # pairs of locks that are examined


def inner_of(one: SiteFacts) -> tuple[Site, float] | None:
    """Return the site that is held longest inside this one, and that time in ns."""
    profile = one.facts.profile
    counts: dict[int, float] = {}
    sites: dict[int, Site] = {}
    for place in range(min(EDGES, len(profile.lock_order))):
        edge = profile.lock_order[place]
        outer, inner = profile.site_of(edge.outer), profile.site_of(edge.inner)
        if outer is None or inner is None or outer.number != one.site.number:
            continue
        if inner.number != outer.number:
            counts[inner.number] = counts.get(inner.number, 0) + edge.count
            sites[inner.number] = inner
    best = None
    for number, site in sites.items():
        use = site.total
        if use is None or not use.acquisitions:
            continue
        nested = min(1.0, max(counts[number], use.nested) / use.acquisitions)
        spent = (use.hold.total_ns + use.wait.total_ns) * nested
        if best is None or spent > best[1]:
            best = (site, spent)
    return best


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if most of the outer hold is spent on an inner lock."""
    found = inner_of(one)
    if found is None or not one.hold_ns:
        return None
    inner, spent = found
    part = min(spent / one.hold_ns, 1.0)
    if part < MOST:
        return None
    return Cause(
        "nested-locks",
        one.name,
        f"{one.waiting} while {call(one.holder)} holds it to take "
        f"{short_site(inner.name, INNER)}, {time(one.each_hold)} each time",
        (
            "Release the outer lock before taking the inner one",
            "Release the outer lock first",
        ),
        one.loss * part,
        (f"{share(part)} of the outer hold is spent on the inner lock",),
        one.site.number,
        one.holder,
    )
