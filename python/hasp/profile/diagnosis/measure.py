# SPDX-License-Identifier: MIT
"""Compute the measures of a profile; features.py explains them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy

from hasp.profile.diagnosis.cpu_time import cpu_time, granted_share
from hasp.profile.diagnosis.features import BarrierWaits, Features, SiteFeatures
from hasp.profile.diagnosis.gain import busy, gain
from hasp.profile.diagnosis.greed import greed_at
from hasp.profile.diagnosis.rules import Rules
from hasp.profile.model.profile import (
    Kind,
    Lock,
    Operation,
    Profile,
    Site,
    SiteStats,
    Thread,
)

# without condition variables and barriers
LOCKS = (Kind.MUTEX, Kind.RWLOCK, Kind.SPINLOCK)
LOOKED_AT = 1024  # locks of one site: there may be a million
SAMPLES = 50_000  # of waiters
ENOUGH = 100  # samples of one lock's waiters
PARTS = 10  # of the run, to see how contention varies
STATIC = "static"  # lock flag: no init was recorded
PAGE = 4096  # bytes
SECOND = 1e9


def features(profile: Profile, rules: Rules, fewer: Profile | None = None) -> Features:
    """Return the measures of a profile.

    `fewer` is a profile of the same work with fewer threads, for growth rates.
    """
    active = _active(profile)
    total_ns, active_ns = _thread_time(profile, active)
    cpu_ns = _cpu_time(profile)
    locks = [site for site in profile.sites if site.kind in LOCKS]
    phases = _phases(profile)
    acquisitions = sum(use.acquisitions for site in locks if (use := site.total))
    whole = Whole(total_ns, cpu_ns, acquisitions, phases, active)
    return Features(
        cpus=max(1, profile.cpus),
        nodes=max(1, profile.nodes),
        sites=tuple(_site(site, profile, rules, whole) for site in locks if site.total),
        lock=profile.lock,
        other_locks={kind.value: name for kind, name in profile.other_locks.items()},
        barriers=tuple(_barriers(profile, total_ns)),
        threads=max((moment.threads for moment in profile.process_samples), default=0),
        section_share=profile.section_share,
        active_share=_ratio(
            sum(thread.section_ns for thread in profile.threads), active_ns
        ),
        share_growth=_ratio(profile.section_share, fewer.section_share)
        if fewer
        else None,
        runnable_per_cpu=_runnable(profile),
        wanting_per_cpu=_wanting(profile),
        ready_share=busy(profile).ready_share,
        cpu_granted=granted_share(profile, cpu_ns),
        preempted_hold_share=_ratio(
            sum(thread.preempted_holds for thread in profile.threads),
            sum(thread.long_holds for thread in profile.threads),
        ),
        migrations_per_s=_ratio(
            sum(thread.migrations for thread in profile.threads),
            profile.duration_ns / SECOND,
        ),
        fault_share=_fault_share(profile, rules, cpu_ns),
        counters=float(
            _counts_misses(profile)
            and any(use.counted_sections for use in _stats(profile))
        ),
    )


def _ratio(part: float, whole: float | None) -> float | None:
    return part / whole if whole else None


def _active(profile: Profile) -> dict[int, float]:
    """Return how long each thread ran or waited for locks, in ns.

    This excludes other sleep, such as a main thread in join and workers without work.
    Spinning waits are part of the CPU time and are not counted again.
    """
    parked = 1 - spinning_share(profile)

    def of(thread: Thread) -> float:
        return max(thread.cpu_ns + thread.wait_ns * parked, float(thread.section_ns))

    return {thread.number: of(thread) for thread in profile.threads}


def _thread_time(profile: Profile, active: Mapping[int, float]) -> tuple[float, float]:
    """Return the threads' total lifetime, and the part in which they were active."""
    sections = lifetime = 0.0
    for thread in profile.threads:
        ended = profile.duration_ns if thread.ended_ns is None else thread.ended_ns
        lifetime += max(0, ended - thread.began_ns)
        sections += thread.section_ns
    # A shared record has only its last thread's lifetime, but the profile's share
    # covers all threads.
    if profile.section_share:
        lifetime = sections / profile.section_share
    return lifetime, min(sum(active.values()), max(lifetime, sections))


def _stats(profile: Profile) -> Iterable[SiteStats]:
    for site in profile.sites:
        if site.kind in LOCKS:
            yield from site.stats.values()


def _counts_misses(profile: Profile) -> bool:
    """Return true if the counted events are cache misses."""
    return "cache misses" in (profile.counter or "")


def spinning_share(profile: Profile) -> float:
    """Return the share of waits for locks that were on a CPU; 0 without samples."""
    spinning = parked = 0
    for use in _stats(profile):
        spinning += use.samples_spinning
        parked += use.samples_parked
    return _ratio(spinning, spinning + parked) or 0.0


def _cpu_time(profile: Profile) -> float | None:
    return cpu_time(profile) or None


def _runnable(profile: Profile) -> float | None:
    """Return the threads running or ready to run, per CPU; sleeping ones do not count.

    The number is rounded: two threads that are always ready and a third that rarely is
    count as two.
    """
    runnable = profile.runnable
    return None if runnable is None else round(runnable) / max(1, profile.cpus)


def _wanting(profile: Profile) -> float | None:
    """Return the threads that would run under a spinning lock, per CPU, rounded.

    Threads that sleep for a lock would spin. Samples without runnable threads are
    ignored: an idle server is irrelevant. Without samples, in a short run, every thread
    that used a lock counts: a lock that spins must not be advised by mistake.
    """
    samples = [
        (moment.runnable, moment.waiting)
        for moment in profile.process_samples
        if moment.runnable
    ]
    if not samples:
        users = sum(
            thread.section_ns + thread.wait_ns > 0 for thread in profile.threads
        )
        return users / max(1, profile.cpus) if users else None
    runnable, waiting = numpy.mean(samples, axis=0)
    wanting = float(runnable) + float(waiting) * (1 - spinning_share(profile))
    return round(wanting) / max(1, profile.cpus)


def _fault_share(profile: Profile, rules: Rules, cpu_ns: float | None) -> float | None:
    faults = sum(thread.minor_faults for thread in profile.threads)
    share = _ratio(faults * rules.limit("page-fault"), cpu_ns)
    if share is None or not profile.process_samples or not cpu_ns:
        return share
    # The kernel serves faults, so they cannot take longer than all system time.
    return min(share, profile.process_samples[-1].system_ns / cpu_ns)


class Whole(NamedTuple):
    """Totals that the measures of a site refer to."""

    total_ns: float  # all threads' lifetimes
    cpu_ns: float | None
    acquisitions: int  # of all locks
    phases: Mapping[int, list[float]]  # waiters in each part of the run, by lock
    active: Mapping[int, float]  # time running or waiting in ns, by thread


def _site(site: Site, profile: Profile, rules: Rules, whole: Whole) -> SiteFeatures:
    use = site.total
    assert use is not None
    seconds = profile.duration_ns / SECOND
    hottest = _hottest(site)
    waiters = _waiters(site, hottest, profile)
    waiters_p95, hold_p50 = (hottest or site).waiters_p95, use.hold.quantile(0.5)
    handover_p50, handover = use.handover.quantile(0.5), use.handover.mean_ns
    relock = site.stats.get(Operation.RELOCK)
    relocks = relock.acquisitions if relock else 0
    attempts = use.acquisitions + use.trylock_failures
    births = _births(site, profile)
    faulting_ns = births.pages * rules.limit("page-fault")
    bounds = gain(site, hottest, profile, whole.active, rules)
    return SiteFeatures(
        site=site.number,
        name=site.name,
        kind=site.kind.value,
        share=site.share,
        wait_share=_ratio(use.wait.total_ns, whole.total_ns),
        waiters=waiters,
        waiters_p95=waiters_p95,
        waiters_p95_share=_per_other_cpu(waiters_p95, profile),
        waiters_share=_per_other_cpu(waiters, profile),
        waiters_variation=_variation(_phases_of(hottest, whole)),
        contended_share=_ratio(use.contended, use.acquisitions),
        acquisitions_per_s=_ratio(use.acquisitions, seconds),
        operation_share=_ratio(
            use.acquisitions * rules.limit("uncontended-cost"), whole.cpu_ns
        ),
        hottest_share=_ratio(hottest.acquisitions, whole.acquisitions)
        if hottest
        else None,
        owner_change_share=_ratio(use.owner_changes, use.acquisitions),
        hold_p50_ns=hold_p50,
        hold_p99_ns=use.hold.quantile(0.99),
        hold_tail=_ratio(use.hold.quantile(0.999) or 0.0, hold_p50),
        handover_ns=handover,
        handover_p99_ns=use.handover.quantile(0.99),
        handover_ratio=None if handover is None else _ratio(handover, handover_p50),
        blocking_per_s=_ratio(relocks, seconds),
        blocking_share=_ratio(relocks, use.acquisitions),
        trylock_share=_ratio(use.trylocks, attempts),
        trylock_failure_share=_ratio(use.trylock_failures, use.trylocks),
        trylock_failures_per_s=_ratio(use.trylock_failures, seconds),
        trylock_run=use.longest_failing_run,
        locks=births.number,
        creations_per_s=_ratio(births.number, seconds),
        created_late=births.late,
        lock_fault_share=_ratio(faulting_ns, profile.duration_ns),
        lock_fault_ns=faulting_ns,
        nested_share=_ratio(use.nested, use.acquisitions),
        misses=use.cache_misses if _counts_misses(profile) else None,
        read_share=_read_share(site),
        **_elision_measures(use, hottest, profile),
        **greed_at(site)._asdict(),
        gain=bounds.most if bounds else None,
        lock_cpu_share=bounds.cpu_share if bounds else None,
        free_share=bounds.free_share if bounds else None,
    )


def _elision_measures(
    use: SiteStats, hottest: Lock | None, profile: Profile
) -> dict[str, float | None]:
    """Return the share of transactions that committed, and that of time held."""
    return {
        "commit_share": use.elision.commit_share if use.elision else None,
        "held_share": _ratio(hottest.hold_ns if hottest else 0, profile.duration_ns),
    }


def _barriers(profile: Profile, total_ns: float) -> Iterator[BarrierWaits]:
    for site in profile.sites:
        use = site.stats.get(Operation.BARRIER)
        median = use.wait.quantile(0.5) if use else None
        if use and median is not None:
            share = _ratio(use.wait.total_ns, total_ns) or 0.0
            yield BarrierWaits(site.number, site.name, share, median)


def _hottest(site: Site) -> Lock | None:
    """Return the lock with the longest waits; the locks are sorted by wait time."""
    return max(
        site.locks[:LOOKED_AT],
        key=lambda lock: (lock.wait_ns, lock.acquisitions),
        default=None,
    )


def _waiters(site: Site, hottest: Lock | None, profile: Profile) -> float | None:
    """Return the mean number of threads waiting for the site's most contended lock.

    The total wait time per time is that mean (Little's law). Samples are used if waits
    were not summed for single locks.
    """
    if hottest is None:
        return site.waiters_mean
    if hottest.wait_ns or not hottest.waiters_mean:
        return _ratio(hottest.wait_ns, profile.duration_ns)
    return hottest.waiters_mean


def _per_other_cpu(threads: float | None, profile: Profile) -> float | None:
    """Return waiting threads per CPU other than the holder's."""
    return None if threads is None else threads / max(1, profile.cpus - 1)


def _phases(profile: Profile) -> dict[int, list[float]]:
    """Return the waiters of each lock in each of PARTS parts of the run."""
    found: dict[int, list[float]] = {}
    step = 1 + len(profile.waiters) // SAMPLES
    number: Counter[int] = Counter()
    for sample in profile.waiters[::step]:
        number[sample.lock] += 1
        part = sample.at_ns * PARTS // max(1, profile.duration_ns)
        parts = found.setdefault(sample.lock, [0.0] * PARTS)
        parts[max(0, min(PARTS - 1, part))] += sample.waiters * sample.weight
    # With few samples the variation would be noise.
    return {lock: parts for lock, parts in found.items() if number[lock] >= ENOUGH}


def _phases_of(lock: Lock | None, whole: Whole) -> list[float] | None:
    return whole.phases.get(lock.number) if lock else None


def _variation(parts: list[float] | None) -> float | None:
    """Return the coefficient of variation of a lock's waiters over the run."""
    if parts is None:
        return None
    mean = float(numpy.mean(parts))
    return float(numpy.std(parts)) / mean if mean else None


class Births(NamedTuple):
    """When and where a site's locks were created."""

    number: int  # creations, repeated ones included
    late: float | None  # share after the first quarter of the run
    pages: float  # memory pages that contain them


def _births(site: Site, profile: Profile) -> Births:
    """Return the creations; of very many locks an even sample is used.

    A lock without a recorded init appears at its first use, which does not show when it
    was created.
    """
    step = 1 + len(site.locks) // LOOKED_AT
    some = site.locks[::step]
    if not some:
        return Births(0, None, 0)
    early = profile.duration_ns / 4
    creations = [max(1, lock.creations) for lock in some]
    late = sum(
        count if lock.born_ns > early and STATIC not in lock.flags else count - 1
        for lock, count in zip(some, creations, strict=True)
    )
    addresses = [lock.address for lock in some]
    span = (max(addresses) - min(addresses)) / PAGE + 1
    pages = min(len(site.locks), span)
    if step == 1:
        pages = len({address // PAGE for address in addresses})
    number = round(sum(creations) * len(site.locks) / len(some))
    return Births(number, late / sum(creations), pages)


def _read_share(site: Site) -> float | None:
    if site.kind is not Kind.RWLOCK:
        return None
    reads = site.stats.get(Operation.READ)
    writes = site.stats.get(Operation.WRITE)
    read = reads.acquisitions if reads else 0
    return _ratio(read, read + (writes.acquisitions if writes else 0))
