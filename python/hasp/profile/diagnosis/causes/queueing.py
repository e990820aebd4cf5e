# SPDX-License-Identifier: MIT
"""The waits that queueing for the sections of a site explains, and those it does not.

A thread that waits longer than all others could hold the lock waits for something else:
the holder, or the woken thread itself, has no CPU. Only a lock that is in use nearly
all the time makes a thread wait for many sections, because others overtake it.
"""

from __future__ import annotations

from hasp.profile.diagnosis.causes.durations import excess
from hasp.profile.diagnosis.causes.facts import NONE, SiteFacts
from hasp.profile.diagnosis.causes.limits import (
    MOST,
    OPERATION,
    PART,
    SLICE,
    TRANSFER,
    WAKE,
)
from hasp.profile.model.profile import Kind, Operation, SiteStats


def utilisation(one: SiteFacts) -> float:
    """Return the share of the run for which the hottest lock is in use.

    That includes locking it and moving its cache line; it exceeds 1 where the estimates
    of these costs are too high.
    """
    lock, use = one.hottest, one.use
    if lock is None or not use.acquisitions:
        return 0.0
    changes = one.owner_changes / use.acquisitions
    cost = lock.acquisitions * (OPERATION + changes * TRANSFER)
    return (lock.hold_ns + cost) / one.facts.busy_ns


def explained(one: SiteFacts) -> float:
    """Return the share of the waits that the sections, and waking up, explain."""
    if one.site.kind is Kind.RWLOCK:
        return _explained_of_rwlock(one)
    # Half of the run explains all waits, a quarter only those in the queue.
    # What other programs took from the CPUs, the lock could not use.
    used = utilisation(one) / max(one.facts.granted or 1.0, PART)
    overtaken = min(max(used / PART - 1, 0.0), 1.0)
    beyond = excess(one.use.wait, _queue(one, own_hold(one)) + WAKE)
    return 1 - beyond * (1 - overtaken)


def _explained_of_rwlock(one: SiteFacts) -> float:
    """Return the same for a rwlock, whose readers wait only for writers.

    A reader that waits for the wake-up of a writer does so however short the sections
    are.
    """
    reads, writes = one.of(Operation.READ), one.of(Operation.WRITE)
    waited = one.costly_wait_ns
    if not waited or writes.hold.total_ns >= MOST * one.facts.busy_ns:
        return 1.0
    longest = _usual(one, writes)
    reading = _waits_of_readers(one)
    beyond = reading * excess(reads.wait, _queue(one, longest))
    return max(1 - beyond / waited, 0.0)


def _waits_of_readers(one: SiteFacts) -> float:
    """Return the readers' waits in ns, without those of threads in the background."""
    working = set(one.site.threads) - one.background
    of_threads = (one.site.threads[number] for number in working)
    return float(sum(of.get(Operation.READ, NONE).wait.total_ns for of in of_threads))


def unexplained(one: SiteFacts) -> float:
    """Return the share of the waits that queueing for the sections does not explain.

    If a lock is first come, first served, a thread waits at most for one section of
    each other thread.
    """
    return excess(one.use.wait, _queue(one, own_hold(one)))


def _queue(one: SiteFacts, hold: float) -> float:
    return min(hold, SLICE) * max(len(one.users) - 1, 1)


def own_hold(one: SiteFacts) -> float:
    """Return the time in ns that nearly all sections take, if they keep their CPU.

    Readers of an rwlock wait for its writers, whose sections may be few. Where nearly
    all long holds were cut by preemption, these are left out.
    """
    return max(_usual(one, use) for use in _modes(one))


def _usual(one: SiteFacts, use: SiteStats) -> float:
    cut = sum(thread.preempted_holds for thread in one.users)
    long_holds = sum(thread.long_holds for thread in one.users)
    left_out = 0.01
    if cut >= (1 - PART) * long_holds:
        left_out += long_holds / max(one.use.acquisitions, 1)
    return use.hold.quantile(1 - min(left_out, 0.1)) or 0.0


def _modes(one: SiteFacts) -> list[SiteStats]:
    if one.site.kind is not Kind.RWLOCK:
        return [one.use]
    return [one.of(Operation.READ), one.of(Operation.WRITE)]
