# SPDX-License-Identifier: MIT
"""Threads wait because the holder lost its CPU in the critical section."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import PART
from hasp.profile.diagnosis.causes.states import state_of
from hasp.profile.diagnosis.causes.words import call, share, time


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if holders really were off the CPU, ready to run."""
    state = state_of(one)
    cpus = max(one.facts.profile.cpus, 1)
    if state.preempted < PART or one.facts.workers <= cpus:
        return None
    cut = sum(thread.preempted_holds for thread in one.users)
    return Cause(
        "preempted-holder",
        one.name,
        f"{one.waiting} while {call(one.holder)} holds it but has lost its "
        f"CPU, {time(one.usual_hold)} each time",
        (
            f"Run no more threads than the {cpus} CPUs",
            "Run fewer threads",
        ),
        one.wait_share * state.preempted,
        (
            f"{share(state.preempted)} of the time held, the holder was ready to run "
            f"but had no CPU ({cut} holds were cut)",
        ),
        one.site.number,
        one.holder,
    )
