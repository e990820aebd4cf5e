# SPDX-License-Identifier: MIT
"""A few of many locks of one site get most of the load."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import MOST, STRIPES
from hasp.profile.diagnosis.causes.words import number, share, within
from hasp.profile.model.profile import Lock

# The busiest lock's acquisitions, as a multiple of an equal part.
UNEVEN = 3.0


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if one lock has most waits and far more than an equal part."""
    locks: list[Lock] = list(one.site.locks[:1024])
    waited = sum(lock.wait_ns for lock in locks)
    taken = sum(lock.acquisitions for lock in locks)
    hot = one.hottest
    if len(locks) < STRIPES or hot is None or not waited or not taken:
        return None
    part = hot.wait_ns / waited
    load = hot.acquisitions / taken
    if part < MOST or load * len(locks) < UNEVEN:
        return None
    return Cause(
        "uneven-stripes",
        one.name,
        f"1 of its {number(len(one.site.locks))} locks gets {share(load)} of the "
        f"acquisitions{within(one.holder)} and {share(part)} of the waits",
        (
            "Spread the keys evenly over the locks",
            "Spread the keys",
        ),
        one.loss * (part - 1 / len(locks)),
        (f"{one.waiting} for these locks",),
        one.site.number,
        one.holder,
    )
