# SPDX-License-Identifier: MIT
"""Read the sampled states of holders from a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from hasp.profile.model.holding import HolderState, Holding, StateShare
from hasp.profile.model.sites import Sites, Stacks
from hasp.profile.model.system_calls import SystemCalls, state_in
from hasp.profile.symbols.frame import Stack
from hasp.profile.trace.format import ChunkKind, LockKind, NoCall, Records, Unread
from hasp.profile.trace.reader import Trace

T = TypeVar("T")
IDLE = (LockKind.CONDITION, LockKind.BARRIER_OBJECT)
LIBRARY = "libhasp.so"
OLD = "recorded by a version of Hasp that did not measure it"
NO_STATES = "the program's threads cannot be inspected: /proc is missing or hidden"
NO_CALLS = (
    "the system calls of blocked threads cannot be read: the program gave up "
    "privileges, or a container hides them"
)


def holding_absent(header: np.void) -> str | None:
    """Return why states of holders are missing or incomplete; None if they are not."""
    if int(header["version"]) < 2:
        return OLD
    unread = int(header["unread"])
    if unread & Unread.NO_STATES or not header["sampler_hz"]:
        return NO_STATES
    return NO_CALLS if unread & Unread.NO_CALLS else None


class Seen(NamedTuple):
    """One record: a state and how often it was seen."""

    state: HolderState
    call: str | None
    awaits: int  # site
    stack: Stack
    samples: int


class HolderStates:
    """The states of holders by site."""

    def __init__(self, trace: Trace, sites: Sites, stacks: Stacks) -> None:
        self._sites = sites
        self._stacks = stacks
        self._calls = SystemCalls(int(trace.header["machine"]))
        self._readable = not int(trace.header["unread"]) & Unread.NO_CALLS
        records = trace.all(ChunkKind.HOLD_STATES)
        records = records[records["lock"] < len(sites.of)]
        self._of = sites.of[records["lock"]]
        self._records = records

    def holding(self, site: int, column: str) -> Holding | None:
        """Return the states in samples of one column, `waited` or `alone`."""
        records = self._records[self._of == site]
        seen = [one for one in (self._seen(r, column) for r in records) if one]
        total = sum(one.samples for one in seen)
        if not total:
            return None
        by_state: dict[HolderState, list[Seen]] = {}
        for one in seen:
            by_state.setdefault(one.state, []).append(one)
        states = [_share(state, some, total) for state, some in by_state.items()]
        return Holding(total, tuple(sorted(states, key=lambda one: -one.samples)))

    def _seen(self, record: np.void, column: str) -> Seen | None:
        """Return a record; None if it has no information."""
        samples, awaits = int(record[column]), int(record["awaits"])
        if not samples:
            return None
        letter, number = chr(int(record["state"]) & 0x7F), int(record["call"])
        call = self._calls.name(number) if number >= 0 else None
        stack = self._stacks[int(record["stack"])]
        state = HolderState.OTHER
        if letter == "R":
            state = HolderState.RUNNING if record["on_cpu"] else HolderState.READY
            return Seen(state, None, 0, (), samples)
        if awaits:
            return Seen(self._waiting(awaits), None, self._site(awaits), (), samples)
        if call:
            state = state_in(call)
        elif number == NoCall.CALL_NONE:
            state = HolderState.FAULT
        elif letter == "D":
            state = HolderState.IO
        elif self._readable:
            return None  # it was just waking up
        if state is HolderState.FUTEX and waits_in_hasp(stack):
            state = HolderState.LOCK
        return Seen(state, call, 0, stack, samples)

    def _site(self, lock: int) -> int:
        return int(self._sites.of[lock]) if lock < len(self._sites.of) else 0

    def _waiting(self, lock: int) -> HolderState:
        records: Records = self._sites.sums.records
        idle = lock < len(records) and int(records[lock]["kind"]) in IDLE
        return HolderState.EVENT if idle else HolderState.LOCK


def waits_in_hasp(stack: Stack) -> bool:
    """Return true if a lock of Hasp blocks there."""
    return any(frame.module == LIBRARY for frame in stack[:1])


def _share(state: HolderState, seen: list[Seen], total: int) -> StateShare:
    samples = sum(one.samples for one in seen)
    stacks = _count((one.stack, one.samples) for one in seen if one.stack)
    calls = _count((one.call, one.samples) for one in seen if one.call)
    sites = _count((one.awaits, one.samples) for one in seen if one.awaits)
    return StateShare(
        state=state,
        share=samples / total,
        samples=samples,
        call=_most(calls),
        waits_for=_most(sites),
        stack=_most(stacks) or (),
    )


def _count(pairs: Iterable[tuple[T, int]]) -> Counter[T]:
    found: Counter[T] = Counter()
    for key, number in pairs:
        found[key] += number
    return found


def _most(found: Counter[T]) -> T | None:
    return max(found, key=found.__getitem__, default=None)
