# SPDX-License-Identifier: MIT
"""Threads spin for a lock while its holder has no CPU."""

from __future__ import annotations

from hasp.locks.native import REFERENCE
from hasp.profile.diagnosis.causes.cause import REMEDIES, Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import CALL, MATTERS, MOST, PART
from hasp.profile.diagnosis.causes.words import call, share, time
from hasp.profile.model.profile import Kind

# Sleeps of a thread per second.
OFTEN = 100.0


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if more threads than CPUs use a lock that spins."""
    cpus = max(one.facts.profile.cpus, 1)
    replaced = one.facts.profile.lock not in ("", REFERENCE)
    spins = one.site.kind is Kind.SPINLOCK or (
        replaced and (one.use.spinning or 0.0) > MOST
    )
    if not spins or one.facts.workers <= cpus:
        return None
    saves = one.wait_share
    if saves < MATTERS:
        return None
    advice: tuple[str, ...] = ("Use a mutex, whose waiters sleep", "Use a mutex")
    # Threads that never sleep gain nothing from outnumbering the CPUs. Where waking a
    # waiter takes less time than a section, a mutex gains as much as fewer threads.
    computing = (
        one.facts.running >= (1 - PART) * cpus
        and not _sleep(one)
        and (one.use.hold.quantile(0.5) or 0.0) < 2 * CALL
    )
    if computing:
        advice = (
            f"Run no more threads than the {cpus} CPUs, or use a mutex",
            "Run fewer threads, or use a mutex",
            "Run fewer threads",
        )
    longest = one.use.wait.quantile(0.99) or 0.0
    return Cause(
        "spinning",
        one.name,
        f"{one.facts.workers} threads on {cpus} CPUs spin for it up to "
        f"{time(longest)}; {call(one.holder)} holds it for "
        f"{time(one.hold_mean)}, without a CPU at times",
        advice,
        saves,
        (f"{share(one.wait_share)} of the threads' time is spent spinning for it",),
        one.site.number,
        one.holder,
        instead=REMEDIES["preempted-holder"] if computing else "",
    )


def _sleep(one: SiteFacts) -> bool:
    """Return true if the threads that take the lock often sleep, such as in I/O."""
    sleeps = sum(thread.voluntary for thread in one.users)
    return sleeps > OFTEN * len(one.users) * one.facts.seconds
