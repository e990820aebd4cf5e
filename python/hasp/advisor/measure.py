# SPDX-License-Identifier: MIT
"""The measures of a profile: see hasp.advisor.features for what each one is."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

import numpy

from hasp.advisor.features import Features, SiteFeatures
from hasp.advisor.rules import Rules
from hasp.profile.model import Kind, Lock, Operation, Profile, Site, Use

LOCKS = (Kind.MUTEX, Kind.RWLOCK, Kind.SPINLOCK)  # condvars and barriers only wait
PARTS = 10  # of the run, over which contention may vary
PAGE = 4096  # bytes
SECOND = 1e9


def features(profile: Profile, rules: Rules, fewer: Profile | None = None) -> Features:
    """What the rules ask of a profile.

    `fewer` is a profile of the same work with fewer threads, for what grows with them.
    """
    total_ns, active_ns = _thread_time(profile)
    cpu_ns = _cpu_time(profile)
    locks = [site for site in profile.sites if site.kind in LOCKS]
    acquisitions = sum(use.acquisitions for site in locks if (use := site.total))
    return Features(
        cpus=max(1, profile.cpus),
        nodes=max(1, profile.nodes),
        sites=tuple(
            _site(site, profile, rules, total_ns, cpu_ns, acquisitions)
            for site in locks
            if site.total
        ),
        lock=profile.lock,
        threads=max((moment.threads for moment in profile.moments), default=0),
        section_share=profile.section_share,
        active_share=_ratio(
            sum(thread.section_ns for thread in profile.threads), active_ns
        ),
        share_growth=_ratio(profile.section_share, fewer.section_share)
        if fewer
        else None,
        runnable_per_cpu=_runnable(profile),
        preempted_hold_share=_ratio(
            sum(thread.preempted_holds for thread in profile.threads),
            sum(thread.long_holds for thread in profile.threads),
        ),
        migrations_per_s=_ratio(
            sum(thread.migrations for thread in profile.threads),
            profile.duration_ns / SECOND,
        ),
        fault_share=_fault_share(profile, rules, cpu_ns),
    )


def _ratio(part: float, whole: float | None) -> float | None:
    return part / whole if whole else None


def _thread_time(profile: Profile) -> tuple[float, float]:
    """All threads' lives together, and the part in which they ran or waited for locks.

    The latter leaves out threads that sleep elsewhere: a main thread that joins,
    workers without work. Spinning waits are in the CPU time, so not counted again.
    """
    total = active = 0.0
    spinning = spinning_share(profile)
    for thread in profile.threads:
        ended = profile.duration_ns if thread.ended_ns is None else thread.ended_ns
        life = max(0, ended - thread.began_ns)
        ran = thread.cpu_ns + thread.wait_ns * (1 - spinning)
        total += life
        active += min(max(ran, thread.section_ns), max(life, thread.section_ns))
    return total, active


def _uses(profile: Profile) -> Iterable[Use]:
    for site in profile.sites:
        if site.kind in LOCKS:
            yield from site.uses.values()


def spinning_share(profile: Profile) -> float:
    """The share of waits for locks that were on a CPU; 0 where nobody looked."""
    spinning = parked = 0
    for use in _uses(profile):
        spinning += use.samples_spinning
        parked += use.samples_parked
    return _ratio(spinning, spinning + parked) or 0.0


def _cpu_time(profile: Profile) -> float | None:
    cpu = sum(thread.cpu_ns for thread in profile.threads)
    if not cpu and profile.moments:
        cpu = profile.moments[-1].cpu_ns
    return float(cpu) if cpu else None


def _runnable(profile: Profile) -> float | None:
    """Threads that would run under a spinning lock: those asleep for one would spin."""
    parked = 1 - spinning_share(profile)
    wanting = [
        min(moment.threads, moment.runnable + moment.waiting * parked)
        for moment in profile.moments
        if moment.runnable is not None
    ]
    if not wanting:
        return None
    return float(numpy.quantile(wanting, 0.9)) / max(1, profile.cpus)


def _fault_share(profile: Profile, rules: Rules, cpu_ns: float | None) -> float | None:
    faults = sum(thread.minor_faults for thread in profile.threads)
    share = _ratio(faults * rules.limit("page-fault"), cpu_ns)
    if share is None or not profile.moments or not cpu_ns:
        return share
    # Faults are served by the kernel: they cannot take longer than all of it.
    return min(share, profile.moments[-1].system_ns / cpu_ns)


def _site(
    site: Site,
    profile: Profile,
    rules: Rules,
    total_ns: float,
    cpu_ns: float | None,
    acquisitions: int,
) -> SiteFeatures:
    use = site.total
    assert use is not None
    seconds = profile.duration_ns / SECOND
    hottest = max(
        site.locks, key=lambda lock: (lock.wait_ns, lock.acquisitions), default=None
    )
    waiters = _waiters(site, hottest, profile)
    hold_p50 = use.hold.quantile(0.5)
    handover_p50 = use.handover.quantile(0.5)
    handover = use.handover.mean_ns
    relocks = site.uses.get(Operation.RELOCK)
    attempts = use.acquisitions + use.trylock_failures
    creations = sum(max(1, lock.lives) for lock in site.locks)
    operations = use.acquisitions * rules.limit("uncontended-cost")
    return SiteFeatures(
        site=site.number,
        name=site.name,
        kind=site.kind.value,
        share=site.share,
        wait_share=_ratio(use.wait.total_ns, total_ns),
        waiters=waiters,
        waiters_p95=hottest.waiters_p95 if hottest else site.waiters_p95,
        waiters_share=None if waiters is None else waiters / max(1, profile.cpus - 1),
        waiters_variation=_variation(hottest, profile),
        contended_share=_ratio(use.contended, use.acquisitions),
        acquisitions_per_s=_ratio(use.acquisitions, seconds),
        operation_share=_ratio(operations, cpu_ns),
        hottest_share=_ratio(hottest.acquisitions, acquisitions) if hottest else None,
        owner_change_share=_ratio(use.owner_changes, use.acquisitions),
        hold_p50_ns=hold_p50,
        hold_p99_ns=use.hold.quantile(0.99),
        hold_tail=_ratio(use.hold.quantile(0.999) or 0.0, hold_p50),
        handover_ns=handover,
        handover_p99_ns=use.handover.quantile(0.99),
        handover_ratio=None if handover is None else _ratio(handover, handover_p50),
        blocking_share=_ratio(relocks.acquisitions if relocks else 0, use.acquisitions),
        trylock_share=_ratio(use.trylocks, attempts),
        trylock_failure_share=_ratio(use.trylock_failures, use.trylocks),
        trylock_failures_per_s=_ratio(use.trylock_failures, seconds),
        trylock_run=use.longest_failing_run,
        locks=creations,
        creations_per_s=_ratio(creations, seconds),
        created_late=_created_late(site, profile),
        lock_fault_share=_ratio(
            _pages(site) * rules.limit("page-fault"), profile.duration_ns
        ),
        nested_share=_ratio(use.nested, use.acquisitions),
        misses=use.cache_misses,
        read_share=_read_share(site),
    )


def _waiters(site: Site, hottest: Lock | None, profile: Profile) -> float | None:
    """Threads that wait for the site's most wanted lock, on average.

    All that was waited, per time, is exactly that mean (Little's law); the sampler's
    counts serve where waits were not summed for single locks.
    """
    if hottest is None:
        return site.waiters_mean
    if hottest.wait_ns or not hottest.waiters_mean:
        return _ratio(hottest.wait_ns, profile.duration_ns)
    return hottest.waiters_mean


def _variation(hottest: Lock | None, profile: Profile) -> float | None:
    """How unevenly the waiters of a lock are spread over the run."""
    if hottest is None or not profile.duration_ns:
        return None
    parts = [0.0] * PARTS
    for sample in profile.waiters:
        if sample.lock == hottest.number:
            part = sample.at_ns * PARTS // profile.duration_ns
            parts[max(0, min(PARTS - 1, part))] += sample.waiters * sample.weight
    mean = statistics.fmean(parts)
    return statistics.pstdev(parts) / mean if mean else None


def _created_late(site: Site, profile: Profile) -> float | None:
    """The share of a site's locks made behind the first quarter of the run."""
    early = profile.duration_ns / 4
    late = sum(
        lock.lives if lock.born_ns > early else max(0, lock.lives - 1)
        for lock in site.locks
    )
    return _ratio(late, sum(max(1, lock.lives) for lock in site.locks))


def _pages(site: Site) -> int:
    return len({lock.address // PAGE for lock in site.locks})


def _read_share(site: Site) -> float | None:
    if site.kind is not Kind.RWLOCK:
        return None
    reads = site.uses.get(Operation.READ)
    writes = site.uses.get(Operation.WRITE)
    read = reads.acquisitions if reads else 0
    return _ratio(read, read + (writes.acquisitions if writes else 0))
