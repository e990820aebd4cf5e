# SPDX-License-Identifier: MIT
"""A few of many locks of one site get most of the load."""

from __future__ import annotations

from itertools import pairwise

from hasp.profile.diagnosis.causes.allocation import allocating
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import MOST, PART, STRIPES
from hasp.profile.diagnosis.causes.states import state_of
from hasp.profile.diagnosis.causes.words import number, share, within
from hasp.profile.model.profile import Lock, Operation

# The number of locks divided by the effective number that shares the load.
UNEVEN = 3.0
# The smallest load of the other locks. With less, they belong to idle objects, unless
# all are elements of one array.
REST = 0.02
REGULAR = 0.9  # of the distances between neighbours
# Acquisitions per second of all locks. Below it, they protect objects that one function
# creates, such as jobs: stripes share the load of short look-ups.
SLOW = 1000.0


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if a few locks have most waits and most of the load."""
    locks: list[Lock] = list(one.site.locks[:1024])
    array = _is_array(locks) and _computes(one)
    if not array:
        locks = [lock for lock in locks if lock.acquisitions]
    taken = sum(lock.acquisitions for lock in locks)
    waited = sum(lock.wait_ns for lock in locks)
    if len(locks) < STRIPES or not waited or not _are_stripes(one):
        return None
    # The inverse of the sum of squared shares: 16 for 16 even locks, 1 for one.
    used = taken**2 / sum(lock.acquisitions**2 for lock in locks)
    hot = sorted(locks, key=lambda lock: -lock.acquisitions)[: max(round(used), 1)]
    load = sum(lock.acquisitions for lock in hot) / taken
    part = sum(lock.wait_ns for lock in hot) / waited
    if used * UNEVEN > len(locks) or part < MOST:
        return None
    if 1 - load < REST and not array:
        return None
    verb = "gets" if len(hot) == 1 else "get"
    return Cause(
        "uneven-stripes",
        one.name,
        f"{len(hot)} of its {number(len(one.site.locks))} locks {verb} {share(load)} "
        f"of the acquisitions{within(one.holder)} and {share(part)} of the waits",
        (
            "Spread the keys evenly over the locks",
            "Spread the keys",
        ),
        one.loss * part * (1 - used / len(locks)),
        (f"{one.waiting} for these locks",),
        one.site.number,
        one.holder,
    )


def _is_array(locks: list[Lock]) -> bool:
    """Return true if the locks lie at equal distances in memory.

    The most used one must be among these: beside an array, a creator may have made it
    by itself, for a cache with one shard, say. Then no key reaches the others.
    """
    places = sorted(lock.address for lock in locks)
    gaps = [after - before for before, after in pairwise(places)]
    if len(gaps) < STRIPES - 1:
        return False
    least = min(gaps)
    hottest = max(locks, key=lambda lock: lock.acquisitions).address
    beside = {hottest - least, hottest + least}
    return gaps.count(least) >= REGULAR * len(gaps) and not beside.isdisjoint(places)


def _computes(one: SiteFacts) -> bool:
    """Return true if holders mostly run: what they do belongs into the section."""
    return state_of(one).asleep < PART and allocating(one) < PART


def _are_stripes(one: SiteFacts) -> bool:
    """Return false for locks that only have their creator in common.

    Mutexes that belong to condition variables protect a state each, not keys.
    """
    return one.rate >= SLOW and not one.of(Operation.RELOCK).acquisitions
