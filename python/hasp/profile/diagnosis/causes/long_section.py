# SPDX-License-Identifier: MIT
"""Threads wait because the critical section takes long on the CPU."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.allocation import allocating
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import TINY
from hasp.profile.diagnosis.causes.queueing import explained
from hasp.profile.diagnosis.causes.states import state_of
from hasp.profile.diagnosis.causes.words import call, share, time

APART = 1.5  # ratio of two means that are told apart


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause of waits that nothing else explains: the section's work."""
    if one.hold_mean <= TINY:
        return None
    state = state_of(one)
    held = min(one.hold_ns / one.facts.busy_ns, 1.0)
    # the sentence has the mean of one function
    others = " over all functions" if one.each_hold > APART * one.hold_mean else ""
    return Cause(
        "long-section",
        one.name,
        f"{one.waiting} while {call(one.holder)} runs under it, "
        f"{time(one.each_hold)} each time",
        (
            "Move work out of the critical section, or split the lock",
            "Shorten the section",
        ),
        one.loss * explained(one) * state.running * (1 - min(allocating(one), 1.0)),
        (
            f"it is held for {share(held)} of the run, {time(one.hold_mean)} on "
            f"average{others}",
        ),
        one.site.number,
        one.holder,
    )
