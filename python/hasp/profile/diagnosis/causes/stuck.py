# SPDX-License-Identifier: MIT
"""Threads wait forever: a deadlock, or a lock that nobody released."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.profile.diagnosis.causes import gate, pending
from hasp.profile.diagnosis.causes.blocking_section import waited_in
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.holders import function_of
from hasp.profile.diagnosis.causes.limits import MOST, SLICE
from hasp.profile.diagnosis.causes.words import call, time, within
from hasp.profile.model.held_at_end import HeldAtEnd
from hasp.profile.model.holding import HolderState, StateShare
from hasp.profile.model.profile import Profile, Site
from hasp.profile.model.waiting import Waiter, waiting

# A hold of up to this many time slices may be in progress when a process ends.
CHANCE = 10.0
# Acquisitions of each lock; a lock that serves as a gate is hardly ever taken.
RARELY = 10
# Events that end the life of a held lock.
ENDED = ("destroyed-held", "initialised-held")


def detect(facts: Facts) -> list[Cause]:
    """Return deadlocks first, then locks that waiters cannot get any more."""
    profile = facts.profile
    found = [_deadlock(profile, cycle) for cycle in waiting(profile).cycles]
    if found:
        return found
    destroyed = _destroyed(profile)
    held = [
        one
        for one in profile.held_at_end
        if _matters(profile, one)
        and (one.waiters or _number(profile, one) not in destroyed)
    ]
    held.sort(key=lambda one: (one.waiters, one.duration_ns or 0), reverse=True)
    of_sites: dict[int, list[HeldAtEnd]] = {}
    for one in held:
        of_sites.setdefault(_number(profile, one), []).append(one)
    return [_never_released(profile, locks) for locks in of_sites.values()]


def _number(profile: Profile, one: HeldAtEnd) -> int:
    """Return the number of the lock's site, or a number of its own."""
    site = profile.site_of(one.lock)
    return site.number if site else -one.lock


def _destroyed(profile: Profile) -> set[int]:
    """Return the sites whose locks were destroyed while held: that is the fault."""
    events = [event for event in profile.events if event.kind in ENDED]
    sites = [profile.site_of(event.lock) for event in events]
    return {site.number for site in sites if site}


def _matters(profile: Profile, one: HeldAtEnd) -> bool:
    """Return true if the lock was not merely in use when the process ended."""
    if one.thread_ended:
        return True
    site = profile.site_of(one.lock)
    # Earlier recorders began a hold that was not timed at the last sample.
    sampled = pending.asleep_ns(site, profile) if site and one.waiters else 0.0
    duration = max(one.duration_ns or 0, sampled)
    if not one.waiters or duration < CHANCE * SLICE:
        return False
    if site and _is_gate(profile, site, one):
        return False
    use = site.total if site else None
    usual = (use.hold.quantile(0.99) or 0.0) if use else 0.0
    return duration > CHANCE * usual or duration > MOST * profile.duration_ns


def _is_gate(profile: Profile, site: Site, one: HeldAtEnd) -> bool:
    """Return true if the holder goes on working, and keeps one thread idle."""
    thread = next((t for t in profile.threads if t.number == one.thread), None)
    works = thread is not None and thread.waiting_for is None
    use = site.total
    rarely = use is not None and use.acquisitions <= RARELY * len(site.locks)
    return works and rarely and one.waiters == 1 and gate.is_gate(site, profile)


def _sleep(site: Site | None) -> StateShare | None:
    """Return the wait for another thread in which the holder was mostly seen."""
    futex = site.holding.of(HolderState.FUTEX) if site and site.holding else None
    return futex if futex and futex.share >= MOST else None


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


def _never_released(profile: Profile, locks: Sequence[HeldAtEnd]) -> Cause:
    one = locks[0]
    site = profile.site_of(one.lock)
    sleep = _sleep(site)
    holder = function_of(one.stack) or function_of(sleep.stack if sleep else ())
    holder = holder or (function_of(site.first) if site else "")
    ended = " and its thread has ended" if one.thread_ended else ""
    waits = f"; {one.waiters} threads wait forever" if one.waiters > 1 else ""
    waits = "; 1 thread waits forever" if one.waiters == 1 else waits
    several = len({lock.lock for lock in locks})
    what = "it and never released it"
    if several > 1:
        what = f"{several} of these locks and never released them"
    advice: tuple[str, ...] = ("Release it on every path", "Release it")
    if sleep and (called := waited_in(sleep.stack)):
        what = f"it and waits in {called}()"
        advice = ("Release it before it waits", "Release it")
    since = f", held for {time(one.duration_ns)}" if one.duration_ns else ""
    return Cause(
        "stuck",
        site.name if site else f"lock {one.lock}",
        f"{call(holder)} acquired {what}{ended}{waits}",
        advice,
        1.0,
        (f"held by thread {one.thread} when the trace ended{since}",),
        site.number if site else None,
        holder,
        fault=True,
    )
