# SPDX-License-Identifier: MIT
"""The states of lock holders: running, sleeping, waiting for another lock, preempted.

The recorder samples it while others wait. With too few samples, sleep is estimated from
CPU time: a thread that held locks for longer than it ran did not run for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW_SAMPLES
from hasp.profile.diagnosis.cpu_time import is_stale
from hasp.profile.model.holding import HolderState, Holding, StateShare
from hasp.profile.model.profile import Operation

LEAST_KNOWN = 0.1  # of the samples; missing ones count as running
MOST_TAKEN = 0.95  # share of the CPU time
UNREAD = 1e9  # ns; the recorder reads the CPU time of a running thread once a second
SLEEPS = (
    *(HolderState.IO, HolderState.ASLEEP, HolderState.EVENT),
    *(HolderState.FAULT, HolderState.FUTEX, HolderState.OTHER),
)


@dataclass(frozen=True)
class State:
    """Shares of the time for which a site's locks were held; together at most 1."""

    running: float
    asleep: float  # in a system call that blocks, other than a lock's
    waiting: float  # for another lock
    preempted: float  # ready to run, without a CPU
    samples: int = 0  # 0: estimated from CPU time
    sleep: StateShare | None = None  # the most frequent kind of sleep


def state_of(one: SiteFacts) -> State:
    """Return the states of the holders of a site while others wait for them."""
    holding = one.site.holding
    if holding and one.of(Operation.RELOCK).acquisitions:
        holding = _without_own_waits(holding)
    if holding is None or holding.samples < FEW_SAMPLES:
        return estimated(one)
    return sampled(holding, crowded=one.crowded)


def _without_own_waits(holding: Holding) -> Holding | None:
    """Leave out holders that wait for a condition: that wait releases the mutex.

    They were seen between being woken and acquiring it again.
    """
    others = [one for one in holding.states if one.state is not HolderState.EVENT]
    samples = sum(one.samples for one in others)
    if not samples:
        return None
    return replace(
        holding,
        samples=samples,
        states=tuple(replace(one, share=one.samples / samples) for one in others),
    )


def sampled(holding: Holding, *, crowded: bool) -> State:
    """Return the shares of the samples; `crowded`: the program fills its CPUs."""
    sleeps = [state for state in holding.states if state.state in SLEEPS]
    running = holding.share(HolderState.RUNNING)
    ready = holding.share(HolderState.READY)
    scale = 1.0
    if not crowded:  # other programs took the CPU: ignore such samples
        scale = 1 / max(1 - ready, LEAST_KNOWN)
        running = max(running, LEAST_KNOWN - (1 - ready - running))
        ready = 0.0
    return State(
        running=min(running * scale, 1.0),
        asleep=holding.share(*SLEEPS) * scale,
        waiting=holding.share(HolderState.LOCK) * scale,
        preempted=ready,
        samples=holding.samples,
        sleep=max(sleeps, key=lambda state: state.share, default=None),
    )


def estimated(one: SiteFacts) -> State:
    """Return the states estimated from the CPU time of the threads that hold locks."""
    hold = one.hold_ns
    if not hold:
        return State(1.0, 0.0, 0.0, 0.0)
    off = 0.0
    granted = max(one.facts.granted or 1.0, 1 - MOST_TAKEN)  # by other programs
    unread = UNREAD if is_stale(one.facts.profile) else 0.0
    for thread in one.users:
        held = one.thread_use(thread.number).hold.total_ns
        off += max(0.0, held - (thread.cpu_ns + unread) / granted)
    off = min(off / hold, 1.0)
    preempted = min(_preempted(one), off)
    waiting = min(_inner_waits(one) / hold, off - preempted)
    return State(1 - off, off - preempted - waiting, waiting, preempted)


def _preempted(one: SiteFacts) -> float:
    """Return the share of hold time that preemption may explain.

    A preempted holder waits for a CPU, so it happens only while all CPUs are busy.
    """
    long_holds = sum(thread.long_holds for thread in one.users)
    cut = sum(thread.preempted_holds for thread in one.users)
    if not one.crowded or not long_holds:
        return 0.0
    return cut / long_holds


def _inner_waits(one: SiteFacts) -> float:
    """Return the threads' waits for other locks that they acquired with one held."""
    total = 0.0
    for other in one.facts.sites:
        if other.site.number != one.site.number and other.use.acquisitions:
            total += other.wait_ns * other.use.nested / other.use.acquisitions
    return total
