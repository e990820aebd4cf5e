# SPDX-License-Identifier: MIT
"""Synthetic profiles, for tests of code that reads profiles.

One tick is one nanosecond. Durations are random but reproducible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from hasp.profile.model.distribution import NOTHING, Distribution
from hasp.profile.model.process_sample import ProcessSample
from hasp.profile.model.profile import (
    Event,
    Kind,
    Lock,
    Operation,
    OrderedPair,
    Overhead,
    Profile,
    Site,
    SiteStats,
    Thread,
    WaiterSample,
    Weight,
    sum_of,
)
from hasp.profile.symbols.frame import Frame, Stack
from hasp.profile.trace.format import BUCKETS, bucket_edges, bucket_of

SECOND = 1_000_000_000
DURATION = 10 * SECOND
MAIN_OPERATION = {
    Kind.MUTEX: Operation.LOCK,
    Kind.SPINLOCK: Operation.LOCK,
    Kind.RWLOCK: Operation.WRITE,
    Kind.CONDITION: Operation.WAIT,
    Kind.BARRIER: Operation.BARRIER,
}


def distribution(
    durations: Iterable[float], number: int | None = None, total: int | None = None
) -> Distribution:
    """Return the histogram of these durations in ns, or of a sample of `number`."""
    timed = [int(duration) for duration in durations]
    counts = [0] * BUCKETS
    for duration in timed:
        counts[bucket_of(duration)] += 1
    return Distribution(
        tuple(counts),
        bucket_edges(),
        sum(timed) if total is None else total,
        max(timed, default=0),
        len(timed) if number is None else number,
    )


def around(mean: float, number: int, seed: int = 1) -> Distribution:
    """Return `number` durations of that mean, skewed like waits.

    At most 2000 are drawn.
    """
    drawn = np.random.default_rng(seed).gamma(1.5, mean / 1.5, min(number, 2000))
    return distribution(drawn, number, int(mean * number))


def stack(*places: str, module: str = "server") -> Stack:
    """Return frames from "function file.c:line", the innermost first."""
    frames = []
    for depth, place in enumerate(places):
        function, _, position = place.partition(" ")
        file, _, line = position.partition(":")
        offset = 0x1000 + sum(place.encode()) * 16 + depth
        frames.append(
            Frame(
                address=0x555555550000 + offset,
                module=module,
                offset=offset,
                function=function,
                file=f"/src/{file}" if file else None,
                line=int(line) if line else None,
            )
        )
    return tuple(frames)


def use(acquisitions: int, contended: int, wait: float, hold: float) -> SiteStats:
    """Return statistics with these counts and mean times in ns."""
    return SiteStats(
        acquisitions,
        contended,
        wait=around(wait, contended, 1),
        hold=around(hold, acquisitions, 2),
        handover=around(min(wait, 2000) + 1, contended, 3),
        samples_spinning=contended // 3,
        samples_parked=contended - contended // 3,
    )


def site(
    number: int,
    name: str,
    summed: SiteStats,
    share: float,
    *,
    kind: Kind = Kind.MUTEX,
    instances: int = 1,
    threads: int = 4,
    waiters: tuple[float, float, int] | None = None,
) -> Site:
    """Return a site whose operations are spread evenly over its locks and threads."""
    place, _, expression = name.partition(" ")
    mean, p95, most = waiters or (None, None, None)
    locks = tuple(
        Lock(
            number=number * 100_000 + index,
            address=0x7F0000000000 + index * 64,
            kind=kind,
            flags=frozenset(),
            born_ns=index,
            died_ns=None,
            creations=1,
            bytes=40,
            acquisitions=summed.acquisitions // instances,
            contended=summed.contended // instances,
            wait_ns=summed.wait.total_ns // instances,
            hold_ns=summed.hold.total_ns // instances,
            owner_changes=summed.owner_changes // instances,
            waiters_mean=mean,
            waiters_p95=p95,
            waiters_max=most,
        )
        for index in range(instances)
    )
    operation = MAIN_OPERATION[kind]
    part = use(
        summed.acquisitions // threads,
        summed.contended // threads,
        summed.wait.mean_ns or 0,
        summed.hold.mean_ns or 0,
    )
    return Site(
        number,
        kind,
        name,
        place,
        expression or None,
        created=stack(f"make_it {place}", "main server.c:20"),
        first=stack("use_it server.c:55", "work server.c:70"),
        locks=locks,
        stats={operation: summed},
        threads={t: {operation: part} for t in range(2, 2 + threads)},
        share=share,
        waiters_mean=mean,
        waiters_p95=p95,
        waiters_max=most,
    )


def thread(number: int, section_ns: int = 0, wait_ns: int = 0) -> Thread:
    return Thread(
        number=number,
        tid=1000 + number,
        name="server" if number == 1 else f"worker-{number}",
        began_ns=0,
        ended_ns=DURATION,
        section_ns=section_ns,
        wait_ns=wait_ns,
        idle_ns=0,
        cpu_ns=DURATION - wait_ns,
        voluntary=100,
        involuntary=10,
        minor_faults=50,
        major_faults=0,
        migrations=3,
        long_holds=4,
        preempted_holds=0,
        waiting_for=None,
        waiting_since_ns=None,
        held=(),
    )


def process_samples() -> tuple[ProcessSample, ...]:
    return tuple(
        ProcessSample(
            at_ns=second * SECOND,
            threads=5,
            waiting=2,
            runnable=2,
            cpu_ns=second * SECOND * 2,
            system_ns=second * 10_000_000,
            minor_faults=50 * second,
            involuntary=10 * second,
            locks_created=12,
        )
        for second in range(10)
    )


def profile(sites: Sequence[Site], section_share: float, threads: int = 4) -> Profile:
    """Return a program of ten seconds whose threads behave alike."""
    section = int(section_share * DURATION)
    total = sum_of(whole for each in sites if (whole := each.total))
    waited = total.wait.total_ns // threads if total else 0
    return Profile(
        command=("./server", "--threads", str(threads)),
        executable="/usr/bin/server",
        pid=4242,
        lock="glibc",
        mode="full",
        cpus=4,
        nodes=1,
        duration_ns=DURATION,
        began=1_700_000_000.0,
        ended=True,
        section_share=section_share,
        threads=(
            thread(1),
            *(thread(number, section, waited) for number in range(2, 2 + threads)),
        ),
        sites=tuple(sorted(sites, key=lambda each: -each.share)),
        lock_order=(),
        events=(),
        weights=(),
        waiters=(),
        process_samples=process_samples(),
        overhead=Overhead(0.004, 3.5, 42.0, 900.0, 160_000_000),
        locks_created=sum(len(each.locks) for each in sites),
        locks_destroyed=0,
        warnings=(),
    )


def hot_lock() -> Profile:
    """Return four threads that contend for one mutex; two other locks hardly matter."""
    hot = site(
        *(1, "db.c:88 &db->mu", use(2_000_000, 900_000, 20_000, 4000), 0.62),
        waiters=(2.4, 3.0, 3),
    )
    log = site(2, "log.c:12 &log_lock", use(40_000, 90, 900, 300), 0.002)
    pool = site(
        3, "pool.cc:140 Pool::mutex_", use(9000, 3, 700, 120), 0.0004, instances=8
    )
    number = hot.locks[0].number
    waits = stack("db_put db.c:120", "work server.c:70")
    gets = stack("db_get db.c:141", "work server.c:70")
    samples = tuple(
        WaiterSample(at * 10_000_000, number, 2 + at % 2, 2 + at % 4, 1)
        for at in range(1000)
    )
    return replace(
        profile([hot, log, pool], 0.64),
        weights=(
            Weight(number, waits, 800_000, 16 * SECOND, 1_600_000, 7 * SECOND),
            Weight(number, gets, 100_000, 2 * SECOND, 400_000, SECOND),
        ),
        waiters=samples,
    )


def many_locks() -> Profile:
    """Return a hash table with 10,000 locks and no waits, so all cost is overhead."""
    buckets = site(
        *(1, "table.c:31 &bucket->lock", use(30_000_000, 400, 800, 60), 0.21),
        instances=10_000,
    )
    return profile([buckets], 0.21)


def trylock_storm() -> Profile:
    """Return a profile of threads that poll a lock with trylock."""
    polled = replace(
        use(500_000, 20_000, 3000, 9000),
        trylocks=8_000_000,
        trylock_failures=7_600_000,
        longest_failing_run=5000,
    )
    return profile([site(1, "queue.c:77 &queue->lock", polled, 0.41)], 0.41)


def readers() -> Profile:
    """Return a profile with a mostly read rwlock and a condition variable."""
    table = site(
        *(1, "cache.cc:9 Cache::lock_", use(10_000, 4000, 50_000, 20_000), 0.18),
        kind=Kind.RWLOCK,
        waiters=(0.7, 2.0, 4),
    )
    reads = {Operation.READ: use(900_000, 9000, 15_000, 2500)}
    wake = site(
        *(2, "queue.c:12 &queue->wake", use(5000, 5000, 900_000, 0), 0.0),
        kind=Kind.CONDITION,
    )
    signalled = replace(wake.stats[Operation.WAIT], hold=NOTHING, signals=5200)
    wake = replace(wake, stats={Operation.WAIT: signalled})
    return profile([replace(table, stats={**table.stats, **reads}), wake], 0.18)


def idle() -> Profile:
    """Return the profile of a program without contention."""
    return profile([site(1, "main.c:5 &lock", use(200, 0, 0, 100), 0.00001)], 0.00001)


def unlocked() -> Profile:
    """Return the profile of a program that used no lock at all."""
    return profile([], 0.0)


def deadlock() -> Profile:
    """Return two threads that acquired two locks in opposite order, and hang."""
    first = site(1, "bank.c:10 &from->lock", use(1001, 1, 5, 80), 0.5, threads=2)
    second = site(2, "bank.c:10 &to->lock", use(1001, 1, 5, 80), 0.5, threads=2)
    a, b = first.locks[0].number, second.locks[0].number
    forth, back = stack("pay bank.c:31"), stack("refund bank.c:44")
    hanging = [
        replace(
            thread(number, SECOND, 8 * SECOND),
            ended_ns=None,
            waiting_for=wanted,
            waiting_since_ns=2 * SECOND,
            held=(held,),
        )
        for number, held, wanted in ((2, a, b), (3, b, a))
    ]
    base = profile([first, second], 0.5, threads=2)
    return replace(
        base,
        ended=False,
        threads=(thread(1), *hanging),
        lock_order=(
            OrderedPair(a, b, 500, False, forth),
            OrderedPair(b, a, 20, False, back),
        ),
        events=(
            Event("order-inversion", 2, b, 3, 20, SECOND, forth),
            Event("held-at-exit", 3, b, 0, 1, DURATION, back),
        ),
        warnings=("the program was killed or still runs: the trace ends in mid-air",),
    )


SAMPLES = {
    made.__name__: made
    for made in (
        *(hot_lock, many_locks, trylock_storm, readers, idle, unlocked, deadlock),
    )
}
