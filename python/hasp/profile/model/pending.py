# SPDX-License-Identifier: MIT
"""Count waits and holds that have not ended, up to the end of the trace.

The recorder adds a wait or a hold to its sums when it ends, but publishes when it
began. Without the pending time, a program that was blocked throughout would seem never
to have waited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hasp.base.durations import format_duration
from hasp.profile.model.unseen import unseen_wait
from hasp.profile.trace.format import (
    LOCK_COUNT,
    SITE_STATS,
    STACK_WEIGHT,
    ChunkKind,
    LockKind,
    Operation,
    Records,
    bucket_of,
)
from hasp.profile.trace.reader import Trace

IDLE = (Operation.WAIT, Operation.BARRIER)
WAITS = (Operation.LOCK, Operation.READ, Operation.WRITE, Operation.RELOCK, *IDLE)
EXCLUSIVE = (LockKind.MUTEX, LockKind.SPINLOCK)
HOLDABLE = (*EXCLUSIVE, LockKind.RWLOCK)
NOTABLE = 0.01  # share of the threads' time above which reports mention it


class Pending(NamedTuple):
    """The pending time as additional records, and the threads with it added."""

    threads: Records  # indexed by number
    stats: Records
    counts: Records
    weights: Records
    wait_ticks: int  # waiting for locks, all threads
    hold_ticks: int  # holding outermost locks, all threads


def pending_of(trace: Trace) -> Pending:
    """Return the pending waits and holds of the threads alive at the end of a trace."""
    collected = _Collected(trace)
    for number in np.flatnonzero(
        (collected.threads["began"] != 0) & (collected.threads["ended"] == 0)
    ).tolist():
        collected.add(number)
    return collected.result()


class _Collected:
    def __init__(self, trace: Trace) -> None:
        self.threads = trace.numbered(ChunkKind.THREADS).copy()
        self._locks = trace.numbered(ChunkKind.LOCKS)
        self._recorded = trace.all(ChunkKind.SITE_STATS)
        self._now = int(trace.header["latest"]["ticks"])
        self._stats: list[Records] = []
        self._counts: list[Records] = []
        self._weights: list[Records] = []
        # Waiting for a lock is part of a critical section, but waits that timed out, or
        # whose section has not ended, are in no sum of sections.
        waits = self.threads["wait_ticks"]
        sections = np.maximum(self.threads["section_ticks"], waits)
        self.threads["section_ticks"] = sections
        self._waited = self._held = 0

    def add(self, number: int) -> None:
        """Add the wait and the known holds of one thread."""
        thread = self.threads[number].copy()
        lock, operation = int(thread["waiting_for"]), int(thread["waiting_to"])
        since, stack = int(thread["waiting_since"]), int(thread["stack"])
        depth = min(int(thread["depth"]), len(thread["held"]))
        inner = int(thread["inner_since"]) if depth > 1 else 0
        if unseen := unseen_wait(thread):
            inner = 0
            lock, operation = unseen, int(Operation.LOCK)
            since, stack, depth = int(thread["unseen_since"]), 0, depth - 1
        waited = self._ticks(thread, since) if lock and operation in WAITS else 0
        outermost = int(thread["held"][0]) if depth else 0
        began = int(thread["holding_since"])
        held = self._ticks(thread, began) if depth and began else 0
        if waited:
            self._add_wait(number, lock, Operation(operation), waited, stack)
        if held and outermost:
            self._add_hold(number, outermost, held)
        if inner and int(thread["depth"]) == depth:
            innermost = int(thread["held"][depth - 1])
            self._add_hold(number, innermost, self._ticks(thread, inner))
        # A wait inside a section is part of it. Idle waits are not in sections.
        acquiring = waited if operation not in IDLE else 0
        self.threads[number]["section_ticks"] += np.uint64(held or acquiring)

    def _ticks(self, thread: np.void, since: int) -> int:
        """Return the duration up to now, at most the thread's lifetime."""
        return max(self._now - max(since, int(thread["began"])), 0)

    def _lock(self, number: int) -> np.void | None:
        if not 0 < number < len(self._locks):
            return None
        lock: np.void = self._locks[number]
        return lock if int(lock["kind"]) in set(LockKind) else None

    def _add_wait(
        self, number: int, lock: int, operation: Operation, ticks: int, stack: int
    ) -> None:
        idle = operation in IDLE
        field = "idle_ticks" if idle else "wait_ticks"
        self.threads[number][field] += np.uint64(ticks)
        record = self._lock(lock)
        if record is None:
            return
        contended = 0 if idle else 1
        use = self._site_stats(number, record, operation)
        use["acquisitions"], use["contended"] = 1, contended
        use["wait_ticks"], use["wait_most"] = ticks, ticks
        use["wait"]["bucket"][0, bucket_of(ticks)] = 1
        count = _one(LOCK_COUNT, lock=lock, site=record["site"], acquisitions=1)
        if not idle:
            self._waited += ticks
            count["contended"], count["wait_ticks"] = 1, ticks
            self._weights.append(
                _one(STACK_WEIGHT, lock=lock, stack=stack, waits=1, wait_ticks=ticks)
            )
        self._counts.append(count)

    def _add_hold(self, number: int, lock: int, ticks: int) -> None:
        record = self._lock(lock)
        if record is None or int(record["kind"]) not in HOLDABLE:
            return
        self._held += ticks
        use = self._site_stats(number, record, self._held_as(number, record))
        use["hold_ticks"], use["hold_most"], use["timed"] = ticks, ticks, 1
        use["hold"]["bucket"][0, bucket_of(ticks)] = 1
        self._counts.append(
            _one(LOCK_COUNT, lock=lock, site=record["site"], hold_ticks=ticks)
        )

    def _held_as(self, number: int, lock: np.void) -> Operation:
        """Guess that a rwlock is held in the mode in which it was acquired before."""
        if int(lock["kind"]) in EXCLUSIVE:
            return Operation.LOCK
        wrote = (
            (self._recorded["thread"] == number)
            & (self._recorded["site"] == lock["site"])
            & (self._recorded["operation"] == Operation.WRITE)
        )
        return Operation.WRITE if wrote.any() else Operation.READ

    def _site_stats(self, number: int, lock: np.void, operation: Operation) -> Records:
        kind = lock["kind"]
        use = _one(
            *(SITE_STATS,),
            thread=number,
            site=lock["site"],
            operation=operation,
            lock_kind=kind,
        )
        self._stats.append(use)
        return use

    def result(self) -> Pending:
        return Pending(
            self.threads,
            np.concatenate([np.zeros(0, SITE_STATS), *self._stats]),
            np.concatenate([np.zeros(0, LOCK_COUNT), *self._counts]),
            np.concatenate([np.zeros(0, STACK_WEIGHT), *self._weights]),
            self._waited,
            self._held,
        )


def pending_doubt(waited_ns: int, held_ns: int, lived_ns: int) -> Iterator[str]:
    """Yield a sentence if pending time is a notable part of the threads' time."""
    if waited_ns + held_ns > NOTABLE * lived_ns:
        parts = (("waits", waited_ns), ("holds", held_ns))
        sums = [f"{what} of {format_duration(ns / 1e9)}" for what, ns in parts if ns]
        yield (
            f"{' and '.join(sums)} had not ended; they are counted up to the end of "
            "the trace"
        )


def _one(dtype: np.dtype[np.void], /, **fields: Any) -> Records:
    record = np.zeros(1, dtype)
    for name, value in fields.items():
        record[name] = value
    return record
