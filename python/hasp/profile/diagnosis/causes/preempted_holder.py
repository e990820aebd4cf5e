# SPDX-License-Identifier: MIT
"""Threads wait because the holder lost its CPU in the critical section."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW, MOST, OUTLIER, PART, SLICE
from hasp.profile.diagnosis.causes.states import state_of
from hasp.profile.diagnosis.causes.words import call, share, time


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if holders, or the waiters they woke, really had no CPU."""
    cpus = max(one.facts.profile.cpus, 1)
    if not one.crowded or one.facts.workers <= cpus or one.use.contended < FEW:
        return None
    state = state_of(one)
    part = max(state.preempted, unexplained(one) * (1 - state.asleep))
    if part < MOST or one.wait_mean < SLICE / OUTLIER:
        return None
    cut = sum(thread.preempted_holds for thread in one.users)
    if state.preempted >= PART:
        problem = f"{one.waiting} while {call(one.holder)} holds it but has lost its "
        problem += f"CPU, {time(one.wait_mean)} each time"
    else:
        problem = f"{one.waiting}, {time(one.wait_mean)} each time, because "
        problem += f"{one.facts.workers} threads share {cpus} CPUs, also in "
        problem += call(one.holder)
    return Cause(
        "preempted-holder",
        one.name,
        problem,
        (
            f"Run no more threads than the {cpus} CPUs",
            "Run fewer threads",
        ),
        # Preemption by other programs has no remedy in this program.
        one.wait_share * part * (one.facts.granted or 1.0),
        (
            f"{share(state.preempted)} of the time held, the holder was ready to run "
            f"but had no CPU ({cut} holds were cut)",
            f"sections take {time(one.working_ns / max(one.use.acquisitions, 1))}, "
            f"which explains {share(1 - unexplained(one))} of the waits",
        ),
        one.site.number,
        one.holder,
    )


def unexplained(one: SiteFacts) -> float:
    """Return the share of the waits that queueing for the sections does not explain.

    If a lock is first come, first served, a thread waits at most for one section of
    each other thread.
    """
    usual = one.use.hold.quantile(0.99) or 0.0
    usual = min(usual, SLICE) * max(len(one.users) - 1, 1)
    return max(0.0, 1 - usual / one.wait_mean) if one.wait_mean else 0.0
