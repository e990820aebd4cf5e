# SPDX-License-Identifier: MIT
"""The most that another lock can gain at a site, from where a profile has its time go.

Another lock neither shortens the sections nor the work between them. What it can save
is the CPU time that waiting, passing on and taking cost, and the time in which the lock
was free though somebody waited. Each of three bounds says how much faster the program
could be without all of that; the smallest counts. They are those of operational
analysis (Denning and Buzen, "The Operational Analysis of Queueing Network Models",
Computing Surveys 1978), with the lock's own cost in place of a device's:

  CPUs   all of them doing nothing but useful work, all the time
  path   without the lock's delays, each taken to hold the whole program up
  waits  the threads that use it never waiting for it

Costs that a profile does not have are thresholds, set high: these are upper bounds. Not
covered is what memory gains when fewer threads run (rule E5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy

from hasp.locks.native import REFERENCE
from hasp.profile.diagnosis.rules import Rules
from hasp.profile.model.distribution import Distribution
from hasp.profile.model.profile import Kind, Lock, Profile, Site, Use, sum_of

MOST = 0.95  # of any time that can be saved: a bound of "20 times" says it all
LEAST_PLAIN = 0.5  # of the CPU time that is not the recorder's own
ONE_BY_ONE = 256  # threads that are looked at apart
REGULAR = 0.5  # of the mean number of acquisitions: a thread that belongs to the work
SMALL = 0.01  # share of the threads' time: below, a site is not looked at closely


@dataclass(frozen=True)
class Gain:
    """Bounds as shares: 0.05 is 5 % more throughput. None: not known."""

    cpus: float | None
    path: float | None
    waits: float | None
    cpu_share: float | None  # of the threads' CPU time, what the lock costs
    free_share: float  # of the run, free though somebody waited, or held for too long

    @property
    def most(self) -> float | None:
        """The smallest of the bounds."""
        known = [
            item for item in (self.cpus, self.path, self.waits) if item is not None
        ]
        return min(known, default=None)


def gain(
    site: Site,
    hottest: Lock | None,
    profile: Profile,
    active: Mapping[int, float],
    rules: Rules,
) -> Gain | None:
    """The bounds for one site; `active`: how long each thread ran or waited, in ns."""
    use = site.total
    if use is None or not profile.duration_ns:
        return None
    cost = _Cost(profile, site, rules)
    # What recording cost is no part of the program; all else took the longer for it.
    plain = max(LEAST_PLAIN, 1 - profile.overhead.share)
    cpu_ns = sum(thread.cpu_ns for thread in profile.threads)
    free_ns = _free(site, use, hottest, profile)
    free_ns += cost.remote(use) + cost.disturbing(use)
    spent = cost.of(use) + cost.remote(use)
    share = min(spent / plain / cpu_ns, MOST) if cpu_ns else None
    run = busy(profile)
    lived = {thread: plain * ns for thread, ns in active.items()}
    worst, waiting = _worst_thread(site, use, lived, cost)
    # All pay for what any does where they share CPUs; and CPU time takes longer than
    # its length where other programs have a part of them.
    worst = max(worst, spent / run.cpus) / run.granted(cpu_ns)
    ready = run.ready_share
    return Gain(
        cpus=_faster(1 - ready * (1 - share)) if ready and share is not None else None,
        path=_faster((free_ns + worst) / plain / run.ns),
        waits=waiting,
        cpu_share=share,
        free_share=min(1.0, free_ns / run.ns),
    )


def _faster(saved: float) -> float:
    """How much more gets done when this share of the time is saved."""
    return 1 / (1 - min(max(saved, 0.0), MOST)) - 1


@dataclass(frozen=True)
class Busy:
    """The part of a run in which any thread ran, was ready, or waited for a lock."""

    ns: float
    ready_share: float | None  # of the CPUs, how many the threads could use meanwhile
    cpus: int

    def granted(self, cpu_ns: int) -> float:
        """Of the CPU time that the threads were ready for, what they got."""
        wanted = (self.ready_share or 0.0) * self.cpus * self.ns
        return min(1.0, max(1 - MOST, cpu_ns / wanted)) if wanted else 1.0


def busy(profile: Profile) -> Busy:
    """What a server does when nobody asks says nothing, so it does not count."""
    cpus = max(1, profile.cpus)
    looks = [
        min(moment.runnable or 0, cpus)
        for moment in profile.moments
        if moment.runnable or moment.waiting
    ]
    if not any(looks):
        return Busy(profile.duration_ns, None, cpus)
    part = len(looks) / len(profile.moments)
    return Busy(part * profile.duration_ns, float(numpy.mean(looks)) / cpus, cpus)


class _Cost:
    """What the acquisitions of a site cost at most, in ns of CPU time."""

    def __init__(self, profile: Profile, site: Site, rules: Rules) -> None:
        # Glibc's mutexes sleep; of others a sampler cannot tell spinning from waking.
        sleeps = profile.lock in ("", REFERENCE) and site.kind is not Kind.SPINLOCK
        self._wait_ns = rules.limit("sleep-cost") if sleeps else float("inf")
        # Falling asleep and waking others is the kernel's work, and not more than all.
        known = sleeps and profile.moments
        self._kernel_ns = profile.moments[-1].system_ns if known else float("inf")
        self._operation_ns = rules.limit("operation-cost")
        self._move_ns = rules.limit("owner-change-cost")
        self._several_nodes = profile.nodes > 1

    def of(self, use: Use) -> float:
        """Waiting, taking and releasing it, and moving its line and data."""
        tries = use.trylock_failures
        return (
            min(_at_most(use.wait, self._wait_ns), self._kernel_ns)
            + (use.acquisitions + tries) * self._operation_ns
            + (use.owner_changes + tries) * self._move_ns
        )

    def remote(self, use: Use) -> float:
        """Sections behind one on another node, which a hierarchical lock makes rare."""
        if not self._several_nodes or not use.acquisitions:
            return 0.0
        return use.hold.total_ns * min(1.0, use.node_changes / use.acquisitions)

    def disturbing(self, use: Use) -> float:
        """Trylocks that fail: each may take the lock's line away from the holder."""
        return min(use.trylock_failures * self._move_ns, float(use.hold.total_ns))


def _at_most(wait: Distribution, most_ns: float) -> float:
    """All waits together, none longer than that."""
    if most_ns == float("inf") or not wait.timed:
        return float(wait.total_ns)
    counts = numpy.array(wait.counts, float)
    lasted = numpy.minimum(numpy.array(wait.edges_ns[1:], float), most_ns)
    scale = wait.number / max(1.0, float(counts.sum()))
    return min(float(wait.total_ns), scale * float((counts * lasted).sum()))


def _free(site: Site, use: Use, hottest: Lock | None, profile: Profile) -> float:
    """How long the lock was free though somebody waited, in ns.

    From release to acquire, where a waiter came next (not every release is timed, so
    the mean stands for all); or, where others may come first, the looks of the sampler
    at which somebody waited and nobody held it. Never longer than a lone lock was free.
    """
    free_ns = (use.handover.mean_ns or 0.0) * use.contended
    if hottest is not None and site.share >= SMALL:
        free_ns = max(free_ns, _unheld(hottest, profile) * profile.duration_ns)
        if len(site.locks) == 1:
            free_ns = min(free_ns, max(0, profile.duration_ns - hottest.hold_ns))
    return free_ns


def _unheld(lock: Lock, profile: Profile) -> float:
    """The share of the sampler's looks at which it was waited for and not held."""
    if not lock.waiters_mean or profile.mode != "full":
        return 0.0  # a sampled recording does not know all holders
    mine = [sample for sample in profile.waiters if sample.lock == lock.number]
    seen = sum(sample.waiters * sample.weight for sample in mine)
    unheld = sum(sample.weight for sample in mine if not sample.holder)
    # `seen` per look is the mean number of waiters, which tells how many looks.
    return min(1.0, unheld * lock.waiters_mean / seen) if seen else 0.0


def _worst_thread(
    site: Site, use: Use, active: Mapping[int, float], cost: _Cost
) -> tuple[float, float | None]:
    """The most that the lock costs one thread in ns, and what it gains without waits.

    Threads that seldom take it do not count: the program does not depend on them.
    """
    threads = len(site.threads)
    if site.share < SMALL or not 0 < threads <= ONE_BY_ONE:
        return cost.of(use), None
    usual = REGULAR * use.acquisitions / threads
    worst = gained = 0.0
    for number, uses in site.threads.items():
        own = sum_of(uses.values())
        if own is None or own.acquisitions < usual:
            continue
        spent = cost.of(own)
        worst = max(worst, spent)
        lived = active.get(number, sum(active.values()))
        saved = own.wait.total_ns + spent + cost.remote(own)
        saved += cost.disturbing(use) * own.acquisitions / use.acquisitions
        if lived:
            gained = max(gained, _faster(saved / lived))
    return worst, gained
