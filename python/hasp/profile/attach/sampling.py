# SPDX-License-Identifier: MIT
"""Sample which thread waits for which lock, who holds it, and what the holder does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from hasp.profile.attach.futexes import HEAD, Wait, Waits, owner_of, wait_of
from hasp.profile.attach.process import ON_CPU, Call, Process
from hasp.profile.attach.stack import Code

PERIOD = 0.01  # seconds
SHARE = 0.1  # of a CPU; with many threads samples become rarer
ATTEMPTS = 3  # to find the owner of a lock
RENEWAL = 100  # samples between two readings of the memory map


@dataclass
class LockSamples:
    """The samples of one lock."""

    address: int
    samples: int = 0  # in which a thread waited for it
    waiters: int = 0  # sum over all samples
    most: int = 0
    unowned: int = 0  # samples with waiters and without an owner
    holders: Counter[int] = field(default_factory=Counter)  # thread ids
    # states of the holder: "running", "ready", the name of a system call, "lock"...
    states: Counter[str] = field(default_factory=Counter)
    callers: Counter[tuple[int, ...]] = field(default_factory=Counter)
    holder_callers: Counter[tuple[int, ...]] = field(default_factory=Counter)


@dataclass
class ThreadSamples:
    """The samples of one thread."""

    tid: int
    name: str
    samples: int = 0
    running: int = 0
    waiting: int = 0  # for a mutex
    other_futex: int = 0
    calls: Counter[int] = field(default_factory=Counter)  # other system calls


@dataclass
class Samples:
    """All samples of a process."""

    number: int = 0
    seconds: float = 0.0
    ended: bool = False  # the process ended before the time was over
    locks: dict[int, LockSamples] = field(default_factory=dict)
    threads: dict[int, ThreadSamples] = field(default_factory=dict)


class Sampler:
    """Takes samples of a process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._code = Code(process)
        self._outer_of: dict[int, int] = {}  # thread ids by those inside the namespace
        self.result = Samples()

    def run(self, seconds: float, stopped: Callable[[], bool]) -> Samples:
        """Sample for this long, or until `stopped` or the end of the process."""
        began = time.monotonic()
        end = began + seconds
        while (now := time.monotonic()) < end and not stopped():
            if not self.take():
                self.result.ended = True
                break
            if self.result.number % RENEWAL == 0:
                self._code.renew()
            spent = time.monotonic() - now
            pause = max(PERIOD - spent, spent / SHARE - spent)
            time.sleep(max(0.0, min(pause, end - time.monotonic())))
        self.result.seconds = time.monotonic() - began
        return self.result

    def take(self) -> bool:
        """Take one sample; return False if the process has ended."""
        calls = {
            tid: call
            for tid in self._process.threads()
            if (call := self._process.call(tid)) is not None
        }
        if not calls or self._process.state(self._process.pid) in ("Z", "X", ""):
            return False
        self.result.number += 1
        waits: dict[int, Wait] = {}
        for tid, call in calls.items():
            wait = wait_of(call, self._process.futex)
            if wait:
                waits[tid] = wait
            self._count_thread(tid, call, wait)
        by_lock: dict[int, list[int]] = {}
        for tid, wait in waits.items():
            if wait.waits is Waits.MUTEX:
                by_lock.setdefault(wait.address, []).append(tid)
        for address, tids in by_lock.items():
            self._count_lock(address, tids, calls)
        return True

    def _count_thread(self, tid: int, call: Call, wait: Wait | None) -> None:
        seen = self.result.threads.get(tid)
        if seen is None:
            seen = ThreadSamples(tid, self._process.name(tid))
            self.result.threads[tid] = seen
            self._outer_of[self._process.inner_id(tid)] = tid
        seen.samples += 1
        if call is ON_CPU:
            seen.running += 1
        elif wait is None:
            seen.calls[call.number] += 1
        elif wait.waits is Waits.MUTEX:
            seen.waiting += 1
        else:
            seen.other_futex += 1

    def _count_lock(
        self, address: int, tids: list[int], calls: dict[int, Call]
    ) -> None:
        holder = self._settle(address, tids)
        if not tids:
            return
        seen = self.result.locks.setdefault(address, LockSamples(address))
        seen.samples += 1
        seen.waiters += len(tids)
        seen.most = max(seen.most, len(tids))
        for tid in tids:
            seen.callers[self._code.callers(calls[tid].stack_pointer)] += 1
        if holder is None:
            seen.unowned += 1
            return
        seen.holders[holder] += 1
        # The state is read again, because the thread may have been waiting for this
        # lock a moment ago.
        call = self._process.call(holder)
        wait = wait_of(call, self._process.futex) if call else None
        if call is None or (wait and wait.address == address):
            return
        seen.states[_state(call, wait)] += 1
        if call is not ON_CPU:
            seen.holder_callers[self._code.callers(call.stack_pointer)] += 1

    def _settle(self, address: int, tids: list[int]) -> int | None:
        """Return the holder of a lock; remove from `tids` those that wait no more.

        The threads are inspected one after another, so the lock may have been handed
        over meanwhile: the new holder was then seen waiting. While the lock changes
        hands it has no owner, so the waiters are inspected again.
        """
        for _ in range(ATTEMPTS):
            owner = owner_of(self._process.read(address, HEAD))
            holder = self._outer_of.get(owner)
            if holder is not None:
                if holder in tids:
                    tids.remove(holder)
                return holder
            tids[:] = [tid for tid in tids if self._waits_for(tid, address)]
        return None

    def _waits_for(self, tid: int, address: int) -> bool:
        """Return whether a thread waits for the lock now."""
        call = self._process.call(tid)
        wait = wait_of(call, self._process.futex) if call else None
        return wait is not None and wait.address == address


def _state(call: Call, wait: Wait | None) -> str:
    """Return the state of a lock's holder."""
    if call is ON_CPU:
        return "running"
    if wait is not None:
        return (
            "waiting for another mutex" if wait.waits is Waits.MUTEX else "in a futex"
        )
    return f"call {call.number}"
