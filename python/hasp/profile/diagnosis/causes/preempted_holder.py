# SPDX-License-Identifier: MIT
"""Threads wait because the holder lost its CPU in the critical section."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.durations import excess, share_above
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW, MOST, OUTLIER, PART, SLICE
from hasp.profile.diagnosis.causes.states import state_of
from hasp.profile.diagnosis.causes.tiny_section import is_tiny
from hasp.profile.diagnosis.causes.words import call, share, time
from hasp.profile.model.profile import Kind, Operation, SiteStats

# Sections, and waits, from this time on are long, compared with a time slice.
LONG = SLICE / OUTLIER  # ns


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if holders, or the waiters they woke, really had no CPU."""
    cpus = max(one.facts.profile.cpus, 1)
    if not one.crowded or one.facts.workers <= cpus or one.use.contended < FEW:
        return None
    if is_tiny(one):  # an atomic instruction is never cut
        return None
    state = state_of(one)
    # A section that takes long on a CPU loses it at times, but because it is long.
    short = own_hold(one) <= LONG
    lacking = unexplained(one) * (1 - state.asleep)
    part = max(state.preempted, lacking) if short else lacking
    if part < MOST or share_above(one.use.wait, LONG) < MOST:
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
    queue = min(own_hold(one), SLICE) * max(len(one.users) - 1, 1)
    return excess(one.use.wait, queue)


def own_hold(one: SiteFacts) -> float:
    """Return the time in ns that nearly all sections take, if they keep their CPU.

    Readers of an rwlock wait for its writers, whose sections may be few. Where nearly
    all long holds were cut by preemption, these are left out.
    """
    cut = sum(thread.preempted_holds for thread in one.users)
    long_holds = sum(thread.long_holds for thread in one.users)
    left_out = 0.01
    if cut >= (1 - PART) * long_holds:
        left_out += long_holds / max(one.use.acquisitions, 1)
    times = [use.hold.quantile(1 - min(left_out, 0.1)) for use in _modes(one)]
    return max((time for time in times if time), default=0.0)


def _modes(one: SiteFacts) -> list[SiteStats]:
    if one.site.kind is not Kind.RWLOCK:
        return [one.use]
    return [one.of(Operation.READ), one.of(Operation.WRITE)]
