# SPDX-License-Identifier: MIT
"""Advice on the algorithms of reader-writer locks, spin locks and barriers.

The rules of rules.toml rank mutex algorithms. The choice for other kinds is small and
follows from a few shares, so it stands here. Each piece of advice names the measure
that it follows from.
"""

from __future__ import annotations

from collections.abc import Iterator

from hasp.locks import native
from hasp.locks.kinds import BARRIER, RWLOCK, SPINLOCK, Kind
from hasp.locks.native import REFERENCE
from hasp.profile.diagnosis.features import BarrierWaits, Features, SiteFeatures
from hasp.profile.diagnosis.verdict import KindAdvice
from hasp.profile.diagnosis.words import percent, quantity

MATTERS = 0.05  # share of the threads' time, or of their CPU time
# From here on, readers that write no shared line gain more than writers lose, who wait
# until no reader is left: with docs/examples/directory.c on two CPUs, the whole program
# took 3.1 times as long with one write in 100 acquisitions, 1.4 times with one in 200,
# 0.83 times with one in 400, and half as long with one in 1,000.
MOSTLY_READ = 0.997
HALF = 0.5
ASLEEP = 50_000.0  # ns: what going to sleep and being woken costs at most
FOR_READERS, FOR_WRITERS = "bravo+rw-futex", "rw-futex"
FOR_CROWDS = "spin-then-park"


def other_kinds(features: Features) -> tuple[KindAdvice, ...]:
    """Return the advice for sites of other kinds than mutexes, the costliest first."""
    return tuple(
        advice
        for _, advice in sorted(_found(features), key=lambda pair: -pair[0])
        if advice.algorithm != features.other_locks.get(advice.kind, REFERENCE)
    )


def _found(features: Features) -> Iterator[tuple[float, KindAdvice]]:
    for site in features.sites:
        cost = max(site.wait_share or 0.0, site.operation_share or 0.0)
        if cost < MATTERS or features.threads == 1:
            continue
        if site.kind == RWLOCK.name and site.read_share is not None:
            yield cost, _rwlock(site, site.read_share)
        if site.kind == SPINLOCK.name and features.threads > features.cpus:
            yield cost, _spinlock(site, features)
    for barrier in features.barriers:
        short = barrier.wait_p50_ns < ASLEEP and features.threads <= features.cpus
        if short and barrier.wait_share >= MATTERS:
            yield barrier.wait_share, _barrier(barrier)


def _rwlock(site: SiteFeatures, reads: float) -> KindAdvice:
    much = "nearly all" if 0.995 <= reads < 1.0 else percent(reads)
    share = f"{much} of its acquisitions read"
    if reads >= MOSTLY_READ:
        because = (
            f"{share}; a read that writes no shared line does not delay others, and "
            "a waiting writer stops new readers"
        )
        return _advice(RWLOCK, site, FOR_READERS, because)
    few = "only " if reads < HALF else ""
    because = f"{few}{share}; its waiters spin before they sleep, and writers get turns"
    return _advice(RWLOCK, site, FOR_WRITERS, because)


def _spinlock(site: SiteFeatures, features: Features) -> KindAdvice:
    because = (
        f"{features.threads} threads on {features.cpus} CPUs: a spinning waiter keeps "
        "the CPU that the holder needs"
    )
    return _advice(SPINLOCK, site, FOR_CROWDS, because)


def _barrier(site: BarrierWaits) -> KindAdvice:
    wait = quantity(site.wait_p50_ns, "ns")
    because = f"half of the waits are shorter than {wait}: sleeping costs more"
    return _advice(BARRIER, site, native.default_lock(BARRIER).name, because)


def _advice(
    kind: Kind,
    site: SiteFeatures | BarrierWaits,
    algorithm: str,
    because: str,
) -> KindAdvice:
    return KindAdvice(site.site, site.name, kind.name, algorithm, because)
