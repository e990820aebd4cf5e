# SPDX-License-Identifier: MIT
"""Threads that take turns: each one signals the next, which has to wake up first."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.conditions import ConditionFacts
from hasp.profile.diagnosis.causes.limits import MOST, PART
from hasp.profile.diagnosis.causes.words import number, share, time, within


def detect(one: ConditionFacts) -> Cause | None:
    """Return a convoy if the waiting threads wake each other, and mostly sleep.

    With a ticket lock or a turn counter made of a condition variable, every turn costs
    a wake-up, while a running thread could go on under an ordinary mutex.
    """
    if len(one.waiters) < 2 or not one.waiters <= one.wakers:
        return None
    if one.use.broadcasts > one.use.signals or one.asleep < MOST:
        return None
    if one.waking_share < PART or one.idle < PART or one.again > PART:
        return None
    return Cause(
        "convoy",
        one.name,
        f"{len(one.waiters)} threads{within(one.function)} take turns and wake each "
        f"other by signals, {time(one.each_wait)} each time",
        (
            "Use a plain mutex instead of turns, so that a running thread goes on",
            "Let running threads overtake",
        ),
        min(one.idle, one.waking_share),
        (
            f"{number(one.wakes)} wake-ups; the threads sleep {share(one.asleep)} of "
            f"the time, and the program computes for {share(1 - one.idle)} of it",
        ),
        one.site.number,
        one.function,
    )
