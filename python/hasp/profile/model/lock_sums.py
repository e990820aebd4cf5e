# SPDX-License-Identifier: MIT
"""Sums for each lock, in arrays by lock number because there may be millions."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hasp.profile.model.clock import Clock
from hasp.profile.model.lazy import Lazy
from hasp.profile.model.pending import Pending
from hasp.profile.model.profile import Kind, Lock
from hasp.profile.trace.format import ChunkKind, LockFlag, LockKind, Records
from hasp.profile.trace.reader import Trace

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

KINDS = {
    LockKind.MUTEX: Kind.MUTEX,
    LockKind.RWLOCK: Kind.RWLOCK,
    LockKind.SPINLOCK: Kind.SPINLOCK,
    LockKind.CONDITION: Kind.CONDITION,
    LockKind.BARRIER_OBJECT: Kind.BARRIER,
}
SUMMED = (
    *("acquisitions", "contended", "wait_ticks", "hold_ticks"),
    *("owner_changes", "node_changes"),
)
HIGH = 0.95  # the quantile of waiters that is kept


class Waiters(NamedTuple):
    """The number of threads waiting for each lock, over all samples."""

    mean: Floats
    high: Floats  # the quantile at HIGH
    most: Floats


class LockSums:
    """The locks of a trace with the sums of all threads, and their waiters."""

    def __init__(self, trace: Trace, clock: Clock, pending: Pending) -> None:
        self.clock = clock
        self.records: Records = trace.numbered(ChunkKind.LOCKS)
        self.known = np.isin(self.records["kind"], [int(kind) for kind in LockKind])
        self.sums = {name: self.records[name].astype(np.float64) for name in SUMMED}
        self._add_tables(trace, pending)
        self.waiters = waiters_of(trace, len(self.records))

    def _add_tables(self, trace: Trace, pending: Pending) -> None:
        length = len(self.records)
        parts = [pending.counts]
        for chunk in trace.each(ChunkKind.LOCK_COUNTS):
            lock = chunk.records["lock"]
            parts.append(chunk.records[(lock != 0) & (lock < length)])
        # Merge all threads into one array: one per thread would be as long as the lock
        # table.
        table = np.concatenate(parts)
        for name in SUMMED:
            self.sums[name] += np.bincount(
                table["lock"], weights=table[name], minlength=length
            )

    def lock(self, number: int) -> Lock:
        """Return one lock by its number."""
        record, clock = self.records[number], self.clock
        sums = {name: int(column[number]) for name, column in self.sums.items()}
        waiters = self.waiters
        return Lock(
            number=number,
            address=int(record["address"]),
            kind=KINDS[record["kind"].item()],
            flags=_flags(int(record["flags"])),
            born_ns=clock.at(record["born"]),
            died_ns=clock.at(record["died"]) if record["died"] else None,
            creations=int(record["creations"]),
            bytes=int(record["bytes"]),
            acquisitions=sums["acquisitions"],
            contended=sums["contended"],
            wait_ns=clock.ns(sums["wait_ticks"]),
            hold_ns=clock.ns(sums["hold_ticks"]),
            owner_changes=sums["owner_changes"],
            waiters_mean=float(waiters.mean[number]) if waiters else None,
            waiters_p95=float(waiters.high[number]) if waiters else None,
            waiters_max=int(waiters.most[number]) if waiters else None,
        )

    def worst(self, numbers: Places) -> int:
        """Return the lock with the longest waits, or else the most acquisitions."""
        key = (self.sums["acquisitions"][numbers], self.sums["wait_ticks"][numbers])
        return int(numbers[np.lexsort(key)[-1]])

    def worst_first(self, numbers: Places) -> Lazy[Lock]:
        """Return these locks by wait time, then by acquisitions, descending."""
        order = np.lexsort(
            (
                *(numbers, -self.sums["acquisitions"][numbers]),
                -self.sums["wait_ticks"][numbers],
            )
        )
        ordered = numbers[order]
        return Lazy(len(ordered), lambda place: self.lock(int(ordered[place])))


@cache
def _flags(bits: int) -> frozenset[str]:
    return frozenset(str(flag.name).lower() for flag in LockFlag if bits & flag.value)


def waiters_of(trace: Trace, length: int) -> Waiters | None:
    """Return the waiters by lock number; None if there are no samples."""
    total = int(trace.header["samples"])
    if not total:
        return None
    samples = trace.all(ChunkKind.WAITER_SAMPLES)
    samples = samples[(samples["lock"] != 0) & (samples["lock"] < length)]
    samples = samples[np.lexsort((-samples["waiters"].astype(int), samples["lock"]))]
    lock = samples["lock"]
    waiters, weight = (samples[name].astype(float) for name in ("waiters", "weight"))
    found = Waiters(*(np.zeros(length) for _ in Waiters._fields))
    if not len(samples):
        return found
    found.mean[:] = np.bincount(lock, waiters * weight, length) / total
    begins = np.flatnonzero(np.diff(lock, prepend=0))
    found.most[lock[begins]] = waiters[begins]
    # A lock's samples are in descending order. The quantile is the first sample that,
    # together with those above it, covers more than the upper share of all samples. If
    # none does, nobody was waiting in most samples.
    sums = np.cumsum(weight)
    before = np.repeat(sums[begins] - weight[begins], np.diff(begins, append=len(lock)))
    covers = sums - before > (1 - HIGH) * total
    found.high[lock[begins]] = np.maximum.reduceat(np.where(covers, waiters, 0), begins)
    return found
