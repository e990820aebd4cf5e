# SPDX-License-Identifier: MIT
"""Upper bounds of the throughput that another lock algorithm can gain at a site.

Another algorithm shortens neither the critical sections nor the work between them. It
can save the CPU time spent on waiting, handing over and acquiring, and the time during
which the lock was free while threads waited. Each of three bounds is the speed-up of
the program without these costs; the smallest one counts. They are the bounds of
operational analysis (Denning and Buzen, "The Operational Analysis of Queueing Network
Models", Computing Surveys 1978), with the lock's cost in place of a device's:

CPUs   all CPUs do only useful work, all the time

path   no delays by the lock, if each delays the whole program

waits  the threads that use the lock never wait for it

Costs that a profile does not contain are generous thresholds, because these are upper
bounds. The effect of fewer running threads on memory is not covered (rule E5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy

from hasp.locks.native import REFERENCE
from hasp.profile.diagnosis.cpu_time import cpu_time
from hasp.profile.diagnosis.rules import Rules
from hasp.profile.model.distribution import Distribution
from hasp.profile.model.profile import Kind, Lock, Profile, Site, SiteStats, sum_of

MOST = 0.95  # largest share of a time that can be saved: bounds stop at 20 times
LEAST_PLAIN = 0.5  # minimum share of the CPU time without recording
ONE_BY_ONE = 256  # threads that are examined individually
# of the mean number of acquisitions: fewer mean that a thread is not part of the work
REGULAR = 0.5
SMALL = 0.01  # share of the threads' time; smaller sites are not examined closely


@dataclass(frozen=True)
class Gain:
    """Bounds as shares: 0.05 is 5 % more throughput. None: not known."""

    cpus: float | None
    path: float | None
    waits: float | None
    cpu_share: float | None  # the lock's part of the threads' CPU time
    # share of the run during which it was free while threads waited, or held too long
    free_share: float

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
    """Return the bounds for one site.

    `active` is each thread's time running or waiting, in ns.
    """
    use = site.total
    if use is None or not profile.duration_ns:
        return None
    cost = _Cost(profile, site, rules)
    # Subtract the cost of recording, which slowed down everything else.
    plain = max(LEAST_PLAIN, 1 - profile.overhead.share)
    cpu_ns = cpu_time(profile)
    free_ns = _free(site, use, hottest, profile)
    free_ns += cost.remote(use) + cost.disturbing(use)
    spent = cost.of(use) + cost.remote(use)
    share = min(spent / plain / cpu_ns, MOST) if cpu_ns else None
    run = busy(profile)
    lived = {thread: plain * ns for thread, ns in active.items()}
    worst, waiting = _worst_thread(site, use, lived, cost)
    # Threads that share CPUs pay for each other's costs. CPU time also takes longer
    # where other programs use the CPUs.
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
    """Return the speed-up if this share of the time is saved."""
    return 1 / (1 - min(max(saved, 0.0), MOST)) - 1


@dataclass(frozen=True)
class Busy:
    """The part of a run in which any thread ran, was ready, or waited for a lock."""

    ns: float
    ready_share: float | None  # of the CPUs, the threads that could use them
    cpus: int

    def granted(self, cpu_ns: float) -> float:
        """Return the share of ready time that the threads spent running."""
        wanted = (self.ready_share or 0.0) * self.cpus * self.ns
        return min(1.0, max(1 - MOST, cpu_ns / wanted)) if wanted else 1.0


def busy(profile: Profile) -> Busy:
    """Return the busy part of a run; an idle server does not count."""
    cpus = max(1, profile.cpus)
    samples = [
        min(moment.runnable or 0, cpus)
        for moment in profile.process_samples
        if moment.runnable or moment.waiting
    ]
    if not any(samples):
        return Busy(profile.duration_ns, None, cpus)
    part = len(samples) / len(profile.process_samples)
    return Busy(part * profile.duration_ns, float(numpy.mean(samples)) / cpus, cpus)


class _Cost:
    """Upper bounds of a site's cost, in ns of CPU time."""

    def __init__(self, profile: Profile, site: Site, rules: Rules) -> None:
        # glibc's mutexes sleep; for others samples cannot distinguish spinning from
        # waking.
        sleeps = profile.lock in ("", REFERENCE) and site.kind is not Kind.SPINLOCK
        self._wait_ns = rules.limit("sleep-cost") if sleeps else float("inf")
        # Sleeping and waking is system time, and cannot exceed all of it.
        known = sleeps and profile.process_samples
        self._kernel_ns = (
            profile.process_samples[-1].system_ns if known else float("inf")
        )
        self._operation_ns = rules.limit("operation-cost")
        self._move_ns = rules.limit("owner-change-cost")
        self._several_nodes = profile.nodes > 1

    def of(self, use: SiteStats) -> float:
        """Return the cost of waiting, acquiring, releasing and moving cache lines."""
        tries = use.trylock_failures
        return (
            min(_at_most(use.wait, self._wait_ns), self._kernel_ns)
            + (use.acquisitions + tries) * self._operation_ns
            + (use.owner_changes + tries) * self._move_ns
        )

    def remote(self, use: SiteStats) -> float:
        """Return the cost of handovers between nodes, rare in hierarchical locks."""
        if not self._several_nodes or not use.acquisitions:
            return 0.0
        return use.hold.total_ns * min(1.0, use.node_changes / use.acquisitions)

    def disturbing(self, use: SiteStats) -> float:
        """Return the cost of failing trylocks, which may take the cache line away."""
        return min(use.trylock_failures * self._move_ns, float(use.hold.total_ns))


def _at_most(wait: Distribution, most_ns: float) -> float:
    """Return the sum of all waits, each limited to this duration."""
    if most_ns == float("inf") or not wait.timed:
        return float(wait.total_ns)
    counts = numpy.array(wait.counts, float)
    lasted = numpy.minimum(numpy.array(wait.edges_ns[1:], float), most_ns)
    scale = wait.number / max(1.0, float(counts.sum()))
    return min(float(wait.total_ns), scale * float((counts * lasted).sum()))


def _free(site: Site, use: SiteStats, hottest: Lock | None, profile: Profile) -> float:
    """Return how long the lock was free while threads waited, in ns.

    If waiters acquire in order, this is the time from release to acquire (not all
    releases are timed, so the mean is scaled up). If others may overtake them, samples
    are counted in which threads waited and none held the lock. It cannot exceed the
    time during which a single lock was free.
    """
    free_ns = (use.handover.mean_ns or 0.0) * use.contended
    if hottest is not None and site.share >= SMALL:
        free_ns = max(free_ns, _unheld(hottest, profile) * profile.duration_ns)
        if len(site.locks) == 1:
            free_ns = min(free_ns, max(0, profile.duration_ns - hottest.hold_ns))
    return free_ns


def _unheld(lock: Lock, profile: Profile) -> float:
    """Return the share of samples with waiters but no holder."""
    if not lock.waiters_mean or profile.mode != "full":
        return 0.0  # a sampled recording does not know all holders
    mine = [sample for sample in profile.waiters if sample.lock == lock.number]
    seen = sum(sample.waiters * sample.weight for sample in mine)
    unheld = sum(sample.weight for sample in mine if not sample.holder)
    # `seen` per sample is the mean number of waiters, which gives the number of
    # samples.
    return min(1.0, unheld * lock.waiters_mean / seen) if seen else 0.0


def _worst_thread(
    site: Site, use: SiteStats, active: Mapping[int, float], cost: _Cost
) -> tuple[float, float | None]:
    """Return the largest cost for one thread in ns, and its gain without waits.

    Threads that rarely acquire the lock are ignored: the program does not depend on
    them.
    """
    threads = len(site.threads)
    if site.share < SMALL or not 0 < threads <= ONE_BY_ONE:
        return cost.of(use), None
    usual = REGULAR * use.acquisitions / threads
    worst = gained = 0.0
    for number, stats in site.threads.items():
        own = sum_of(stats.values())
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
