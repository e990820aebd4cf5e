# SPDX-License-Identifier: MIT
"""Threads wait on a condition variable without need, or wake up without work."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.conditions import ConditionFacts, conditions_of
from hasp.profile.diagnosis.causes.limits import MOST, PART
from hasp.profile.diagnosis.causes.words import call, number, share, time, within


def detect_unchecked(one: ConditionFacts) -> Cause | None:
    """Return the cause if threads sleep until a time-out, after a lost signal."""
    return _slept(one) if one.slept_through >= PART else None


def detect(one: ConditionFacts) -> Cause | None:
    """Return the cause if most waits end without work, or were not necessary."""
    other = other_side(one)
    if other:
        return _both(one, other)
    if one.again < MOST:
        return None
    return Cause(
        "needless-waits",
        one.name,
        f"{share(one.again)} of the wake-ups{within(one.function)} find nothing to "
        "do, and the thread waits again",
        (
            "Check the condition before waiting, and signal only when it holds",
            "Signal only when the condition holds",
        ),
        one.cost_share * one.again,
        (_counts(one),),
        one.site.number,
        one.function,
    )


def _slept(one: ConditionFacts) -> Cause:
    who = call(one.function) if one.function else "a thread"
    slept = one.use.wait.total_ns * one.slept_through
    return Cause(
        "needless-waits",
        one.name,
        f"signals come while nobody waits, and then {who} sleeps until "
        f"the time-out, {time(one.each_wait)} each time",
        ("Check the condition before waiting", "Check before waiting"),
        min(
            slept / max(one.facts.active_ns + slept, one.facts.busy_ns),
            one.facts.headroom,  # idle CPUs can do the work sooner, busy ones cannot
        ),
        (
            f"{number(one.use.empty_signals or 0)} signals found no waiter, and "
            f"{share(one.slept_through)} of the waiting time ended with a time-out",
            _counts(one),
        ),
        one.site.number,
        one.function,
    )


def other_side(one: ConditionFacts) -> ConditionFacts | None:
    """Return the condition that the threads wait for which wake these; None if none.

    They are the two sides of a queue. A queue is either empty or full, unless it has
    room for one item: if both sides sleep for each item, one of them did not check.
    """
    if one.waking_share < PART or one.idle < PART:
        return None
    for other in conditions_of(one.facts):
        sides = one.waiters <= other.wakers and other.waiters <= one.wakers
        apart = other.site is not one.site and not one.waiters & other.waiters
        if sides and apart and one.asleep + other.asleep >= 1 + PART:
            return other
    return None


def _both(one: ConditionFacts, other: ConditionFacts) -> Cause:
    return Cause(
        "needless-waits",
        one.name,
        f"threads{within(one.function)} sleep {share(one.asleep)} of the time, and "
        f"those that wake them {share(other.asleep)}: each waits for the other",
        (
            "Check the condition before waiting, or enlarge the queue",
            "Check the condition before waiting",
            "Check before waiting",
        ),
        min(one.idle, one.waking_share),
        (
            f"the others wait for {other.name}",
            _counts(one),
        ),
        one.site.number,
        one.function,
    )


def _counts(one: ConditionFacts) -> str:
    use = one.use
    return (
        f"{number(use.acquisitions)} waits, {number(use.signals)} signals, "
        f"{number(use.broadcasts)} broadcasts, {number(use.timeouts)} time-outs"
    )
