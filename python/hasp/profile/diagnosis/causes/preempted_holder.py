# SPDX-License-Identifier: MIT
"""Threads wait because the holder lost its CPU in the critical section."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.bystanders import share_of_others
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.durations import share_above
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import (
    FEW,
    MATTERS,
    MOST,
    OUTLIER,
    PART,
    SLICE,
)
from hasp.profile.diagnosis.causes.queueing import own_hold, unexplained, utilisation
from hasp.profile.diagnosis.causes.states import State, state_of
from hasp.profile.diagnosis.causes.tiny_section import LEAST_USED, is_tiny
from hasp.profile.diagnosis.causes.words import call, share, time

# Sections, and waits, from this time on are long, compared with a time slice.
LONG = SLICE / OUTLIER  # ns
# In a program with more running threads than CPUs, every thread waits for a CPU at
# times, some while they hold a lock. A smaller share of such waits is no fault.
USUAL = 0.15
IDLE_WAITS = 0.1  # of the waits
NEARLY_ALL = 0.9  # of the samples of holders


def is_starved(state: State) -> bool:
    """Return whether holders had no CPU nearly whenever other threads waited.

    Their sections take as long as they do for want of a CPU, however few the waits.
    """
    return bool(state.samples) and state.preempted >= NEARLY_ALL


def explained_by_cpus(one: SiteFacts, state: State) -> float:
    """Return the share of the waits that a lack of CPUs explains.

    Two kinds count: waits for holders that were seen without a CPU, and long waits of
    threads that hardly compute, which queue for a CPU after they are woken. Where all
    threads compute, the CPUs have other work meanwhile, and such waits cost nothing.
    """
    # A section that takes long loses its CPU at times because it is long, unless
    # threads that do not use the lock take the CPU.
    short = own_hold(one) <= LONG or is_starved(state)
    cut = state.preempted if short or others(one) >= MOST else 0.0
    if not delays_idle_threads(one):
        return cut
    return max(cut, unexplained(one) * (1 - state.asleep))


def others(one: SiteFacts) -> float:
    """Return the share of the CPU time of threads that never took the locks."""
    return share_of_others(one.users, one.facts.cpu_ns)


def delays_idle_threads(one: SiteFacts) -> bool:
    """Return true if threads that hardly compute have a part of the waits."""
    facts = one.facts
    equal = facts.cpu_ns / max(facts.workers, 1)
    waits = {n: one.thread_use(n).wait.total_ns for n in one.site.threads}
    threads = facts.threads_by_number
    idle = [n for n in waits if n in threads and threads[n].cpu_ns < PART * equal]
    return sum(waits[n] for n in idle) >= IDLE_WAITS * (sum(waits.values()) or 1)


def least(one: SiteFacts, state: State) -> float:
    """Return the smallest share of waits that is more than a crowd usually causes."""
    return MATTERS if state.preempted >= MOST and others(one) >= MOST else USUAL


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if holders, or the waiters they woke, really had no CPU."""
    cpus = max(one.facts.profile.cpus, 1)
    if not one.crowded or one.facts.workers <= cpus:
        return None
    if is_tiny(one) and utilisation(one) >= LEAST_USED:
        return None  # an atomic instruction is never cut
    state = state_of(one)
    starved = is_starved(state)
    if one.use.contended < FEW and not starved:
        return None
    part = explained_by_cpus(one, state)
    if part < MOST or share_above(one.use.wait, LONG) < MOST:
        return None
    if one.wait_share * part < least(one, state):
        return None
    cut = sum(thread.preempted_holds for thread in one.users)
    if state.preempted >= PART:
        problem = f"{one.waiting} while {call(one.holder)} holds it but has lost its "
        problem += f"CPU, {time(one.wait_mean)} each time"
    else:
        problem = f"{one.waiting}, {time(one.wait_mean)} each time, because "
        problem += f"{one.facts.workers} threads share {cpus} CPUs, even in "
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
