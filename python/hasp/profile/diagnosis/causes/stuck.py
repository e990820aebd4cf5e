# SPDX-License-Identifier: MIT
"""Threads wait forever: a deadlock, or a lock that nobody released."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.holders import function_of
from hasp.profile.diagnosis.causes.limits import MOST, SLICE
from hasp.profile.diagnosis.causes.words import call, time, within
from hasp.profile.model.held_at_end import HeldAtEnd
from hasp.profile.model.profile import Profile
from hasp.profile.model.waiting import Waiter, waiting

# A hold of up to this many time slices may be in progress when a process ends.
CHANCE = 10.0


def detect(facts: Facts) -> list[Cause]:
    """Return deadlocks first, then locks that waiters cannot get any more."""
    profile = facts.profile
    found = [_deadlock(profile, cycle) for cycle in waiting(profile).cycles]
    if found:
        return found
    held = [one for one in profile.held_at_end if _matters(profile, one)]
    held.sort(key=lambda one: (one.waiters, one.duration_ns or 0), reverse=True)
    return [_never_released(profile, one) for one in held]


def _matters(profile: Profile, one: HeldAtEnd) -> bool:
    """Return true if the lock was not merely in use when the process ended."""
    if one.thread_ended:
        return True
    duration = one.duration_ns or 0
    if not one.waiters or duration < CHANCE * SLICE:
        return False
    site = profile.site_of(one.lock)
    use = site.total if site else None
    usual = (use.hold.quantile(0.99) or 0.0) if use else 0.0
    return duration > CHANCE * usual or duration > MOST * profile.duration_ns


def _deadlock(profile: Profile, cycle: tuple[Waiter, ...]) -> Cause:
    first = cycle[0]
    site = profile.site_of(first.lock)
    where = [function_of(one.thread.waiting_stack) for one in cycle]
    if len(cycle) == 1:
        problem = f"a thread{within(where[0])} waits for it and already holds it"
        advice = "Release it before locking again, or make it recursive"
    else:
        others = " and ".join(dict.fromkeys(one.lock_name for one in cycle[1:]))
        calls = ", ".join(call(name) for name in dict.fromkeys(where) if name)
        calls = f" in {calls}" if calls else ""
        problem = f"deadlock of {len(cycle)} threads{calls} with {others}"
        advice = "Take the locks in one order"
    return Cause(
        "stuck",
        first.lock_name,
        problem,
        (advice,),
        1.0,
        tuple(
            f"thread {one.thread.tid} has waited {time(one.since_ns)} for "
            f"{one.lock_name}, held by thread {one.holder.tid}"
            for one in cycle
            if one.holder
        ),
        site.number if site else None,
        function_of(first.thread.waiting_stack),
        fault=True,
    )


def _never_released(profile: Profile, one: HeldAtEnd) -> Cause:
    site = profile.site_of(one.lock)
    holder = function_of(one.stack) or (function_of(site.first) if site else "")
    ended = " and its thread has ended" if one.thread_ended else ""
    waits = f"; {one.waiters} threads wait forever" if one.waiters > 1 else ""
    waits = "; 1 thread waits forever" if one.waiters == 1 else waits
    since = f", held for {time(one.duration_ns)}" if one.duration_ns else ""
    return Cause(
        "stuck",
        site.name if site else f"lock {one.lock}",
        f"{call(holder)} acquired it and never released it{ended}{waits}",
        ("Release it on every path", "Release it"),
        1.0,
        (f"held by thread {one.thread} when the trace ended{since}",),
        site.number if site else None,
        holder,
        fault=True,
    )
