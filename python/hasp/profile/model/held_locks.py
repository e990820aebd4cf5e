# SPDX-License-Identifier: MIT
"""Find the locks that are held at the end of a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from hasp.profile.model.clock import Clock
from hasp.profile.model.held_at_end import HeldAtEnd
from hasp.profile.model.sites import Stacks
from hasp.profile.model.unseen import unseen_wait
from hasp.profile.symbols.frame import Stack
from hasp.profile.trace.format import HELD, ChunkKind, EventKind, Records
from hasp.profile.trace.reader import Trace


def held_at_end(
    trace: Trace, threads: Records, clock: Clock, stacks: Stacks
) -> tuple[HeldAtEnd, ...]:
    """Return the held locks, those with the most waiting threads first.

    `threads` are the trace's threads, indexed by number.
    """
    alive = (threads["began"] != 0) & (threads["ended"] == 0)
    waiting = Counter(threads["waiting_for"][alive].tolist())
    now = int(trace.header["latest"]["ticks"])
    found = [
        HeldAtEnd(
            lock=lock,
            thread=number,
            since_ns=clock.at(since) if since else None,
            duration_ns=clock.ns(max(now - since, 0)) if since else None,
            waiters=waiting[lock],
            thread_ended=False,
            stack=stack,
        )
        for number in np.flatnonzero(alive & (threads["depth"] > 0)).tolist()
        for lock, since, stack in _held(threads[number], stacks)
    ]
    held = {(one.lock, one.thread) for one in found}
    events = trace.all(ChunkKind.EVENTS)
    for event in events[events["kind"] == EventKind.EXITED_HOLDING]:
        lock, number = int(event["lock"]), int(event["thread"])
        if (lock, number) not in held:
            found.append(HeldAtEnd(lock, number, None, None, waiting[lock], True, ()))
    return tuple(sorted(found, key=lambda one: -one.waiters))


def _held(thread: np.void, stacks: Stacks) -> Iterator[tuple[int, int, Stack]]:
    """Yield each lock with the tick when its hold began, or 0, and its stack."""
    depth = min(int(thread["depth"]), HELD)
    if unseen_wait(thread):
        depth -= 1
    for index in range(depth):
        lock = int(thread["held"][index])
        since, stack = 0, 0
        if index == 0:
            since, stack = int(thread["holding_since"]), int(thread["outer_stack"])
        elif index == int(thread["depth"]) - 1:
            since, stack = int(thread["inner_since"]), int(thread["inner_stack"])
        if lock:
            yield lock, since, stacks[stack]
