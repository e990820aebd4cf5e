# SPDX-License-Identifier: MIT
"""Very many locks take memory, and hardly any of them is needed."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import MANY_LOCKS, MATTERS
from hasp.profile.diagnosis.causes.words import number, share
from hasp.profile.model.profile import Lock

PAGE = 4096  # bytes
FAULT = 500.0  # ns for a page fault that only clears a page


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if a site has created very many locks."""
    locks = one.site.locks
    if len(locks) < MANY_LOCKS:
        return None
    size = max(locks[0].bytes, 1)
    step = 1 + len(locks) // 1000
    some = locks[::step]
    if step * _alive(some, one.facts.profile.duration_ns) < MANY_LOCKS:
        return None  # most belong to short-lived objects, such as messages
    used = sum(lock.acquisitions > 0 for lock in some) / len(some)
    waited = sum(lock.contended for lock in some)
    taken = sum(lock.acquisitions for lock in some)
    if waited > MATTERS * taken:
        return None
    memory = size * len(locks)
    return Cause(
        "idle-locks",
        one.name,
        f"{number(len(locks))} locks take {number(memory)}B, and "
        f"{share(used)} of them were used while it was recorded",
        ("Use one lock for many objects (lock striping)", "Use fewer locks"),
        # Memory does not show up as time, so the saving is at least worth reporting.
        max(one.facts.share(memory / PAGE * FAULT), MATTERS),
        (f"{size} bytes each, {number(one.rate)} acquisitions per second",),
        one.site.number,
        one.holder,
    )


def _alive(locks: Sequence[Lock], duration_ns: int) -> float:
    """Return how many of the locks exist at a time, on average over the run."""
    lives = sum(
        (duration_ns if lock.died_ns is None else lock.died_ns) - lock.born_ns
        for lock in locks
    )
    return lives / max(duration_ns, 1)
