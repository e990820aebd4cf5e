# SPDX-License-Identifier: MIT
"""Find which threads wait for which, at the end of a trace or while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hasp.profile.model.profile import Operation, Profile, Thread
from hasp.profile.symbols.frame import Stack

SHOWN_FRAMES = 3
SHOWN_THREADS = 8  # of those that wait for the same lock
VERBS = {
    Operation.READ: "to read",
    Operation.WRITE: "to write",
    Operation.WAIT: "for a signal",
    Operation.BARRIER: "at the barrier",
    Operation.RELOCK: "to reacquire it after a wait",
}
NOT_BLOCKED = (Operation.WAIT, Operation.BARRIER)  # no holder blocks these


@dataclass(frozen=True)
class Waiter:
    """A waiting thread and, if known, the thread that blocks it."""

    thread: Thread
    lock: int
    lock_name: str
    since_ns: int  # duration of the wait
    holder: Thread | None


@dataclass(frozen=True)
class Hang:
    """All waiting threads: those on cycles, and all others."""

    cycles: tuple[tuple[Waiter, ...], ...]  # deadlocks; each thread waits for the next
    waiters: tuple[Waiter, ...]  # the others, the longest wait first

    @property
    def is_deadlock(self) -> bool:
        """Return true if threads wait for each other in a cycle."""
        return bool(self.cycles)

    def lines(self) -> list[str]:
        """Return the description as lines of text."""
        return list(_lines(self))


def waiting(profile: Profile) -> Hang:
    """Return the waiting threads of a profile."""
    holders = {lock: t for t in profile.threads for lock in t.held}
    waiters: dict[int, Waiter] = {}
    for thread in profile.threads:
        lock = thread.waiting_for
        if lock is None:
            continue
        site = profile.site_of(lock)
        holder = None if thread.waiting_to in NOT_BLOCKED else holders.get(lock)
        if thread.waiting_to is Operation.WRITE and lock in thread.held:
            holder = thread  # among several readers, the one that can never release
        since = profile.duration_ns - (thread.waiting_since_ns or 0)
        name = site.name if site else f"lock {lock}"
        waiters[thread.number] = Waiter(thread, lock, name, max(since, 0), holder)
    blockers = {n: w.holder.number for n, w in waiters.items() if w.holder}
    rings = tuple(cycles(blockers))
    stuck = {number for ring in rings for number in ring}
    others = [w for number, w in waiters.items() if number not in stuck]
    deadlocks = tuple(tuple(waiters[number] for number in ring) for ring in rings)
    return Hang(deadlocks, tuple(sorted(others, key=lambda waiter: -waiter.since_ns)))


def cycles(awaits: Mapping[int, int]) -> Iterator[tuple[int, ...]]:
    """Yield the cycles. Each thread waits for one other at most."""
    done: set[int] = set()
    for start in awaits:
        way: list[int] = []
        number = start
        while number in awaits and number not in done:
            done.add(number)
            way.append(number)
            number = awaits[number]
        if number in way:
            yield tuple(way[way.index(number) :])


def called(thread: Thread) -> str:
    """Return a thread as "worker (tid 4243)"."""
    return f"{thread.name or 'thread'} (tid {thread.tid})"


def _lines(hang: Hang) -> Iterator[str]:
    for cycle in hang.cycles:
        if len(cycle) == 1:
            yield "deadlock: a thread waits for a lock that it already holds"
        else:
            yield f"deadlock: {len(cycle)} threads wait for each other in a cycle"
        for waiter in cycle:
            yield from _waiter_lines(waiter)
    by_lock: dict[int, list[Waiter]] = {}
    for waiter in hang.waiters:
        by_lock.setdefault(waiter.lock, []).append(waiter)
    for group in by_lock.values():
        number = f"{len(group)} threads wait" if len(group) > 1 else "1 thread waits"
        yield f"{number} for {group[0].lock_name}"
        for waiter in group[:SHOWN_THREADS]:
            yield from _waiter_lines(waiter)
        if len(group) > SHOWN_THREADS:
            yield f"  and {len(group) - SHOWN_THREADS} more"
    if not hang.cycles and not hang.waiters:
        yield "no thread waits for a lock"


def _waiter_lines(waiter: Waiter) -> Iterator[str]:
    thread = waiter.thread
    how = VERBS.get(thread.waiting_to, "") if thread.waiting_to else ""
    yield (
        f"  {called(thread)} has waited {waiter.since_ns / 1e9:.1f} s for "
        f"{waiter.lock_name}{' ' + how if how else ''}"
    )
    if thread.waiting_stack:
        yield f"    at {_way(thread.waiting_stack)}"
    if waiter.holder:
        yield f"    held by {called(waiter.holder)}, which {_does(waiter.holder)}"
    elif thread.waiting_to not in NOT_BLOCKED:
        yield "    its holder is unknown"


def _does(thread: Thread) -> str:
    if thread.ended_ns is not None:
        return "has ended"
    if thread.waiting_for is None:
        return "is running, or sleeping outside of lock operations"
    if thread.waiting_to is Operation.WAIT:
        return "is waiting for a condition variable"
    if thread.waiting_to is Operation.BARRIER:
        return "is waiting at a barrier"
    return "is waiting too"


def _way(stack: Stack) -> str:
    """Return the innermost frames: "pay bank.c:31 < main bank.c:70"."""
    parts = []
    for frame in stack[:SHOWN_FRAMES]:
        line = f" {frame.file.rpartition('/')[2]}:{frame.line}" if frame.file else ""
        parts.append((frame.function or f"{frame.module}+{frame.offset:#x}") + line)
    return " < ".join(parts)
