# SPDX-License-Identifier: MIT
"""Threads wait because the holder sleeps or does I/O under the lock."""

from __future__ import annotations

from itertools import takewhile

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import PART, SMALL
from hasp.profile.diagnosis.causes.states import State, state_of
from hasp.profile.diagnosis.causes.words import call, frames, share, time
from hasp.profile.model.holding import HolderState
from hasp.profile.model.naming import is_library, without_arguments
from hasp.profile.symbols.frame import Stack

# The words of the remedy for each kind of system call.
CALLS = {
    "Write outside the lock": (
        *("write", "writev", "pwrite64", "pwritev", "pwritev2", "sendfile"),
        *("fsync", "fdatasync", "msync", "sync_file_range", "syncfs", "sync"),
    ),
    "Read outside the lock": (
        *("read", "readv", "pread64", "preadv", "preadv2", "openat", "open"),
        *("newfstatat", "statx", "getdents64"),
    ),
    "Sleep outside the lock": ("nanosleep", "clock_nanosleep", "sched_yield"),
    "Use the network outside the lock": (
        *("connect", "accept", "accept4", "sendto", "sendmsg", "sendmmsg"),
        *("recvfrom", "recvmsg", "recvmmsg", "poll", "ppoll", "select", "pselect6"),
        *("epoll_wait", "epoll_pwait"),
    ),
    "Wait outside the lock": ("wait4", "waitid"),
}
# The functions of the C library that wait for another thread, by a part of the names
# of its internal ones.
WAITS = {
    "std::thread::join": "std::thread::join",
    "sem_": "sem_wait",
    "join": "pthread_join",
    "barrier": "pthread_barrier_wait",
    "cond_": "pthread_cond_wait",
}
NAMES = {"wait4": "waitpid"}
ANY = "Sleep and do I/O outside the lock"
EVENT = "Wait for the condition without this lock"


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if holders sleep while other threads wait."""
    state = state_of(one)
    if state.asleep < PART:
        return None
    saves = one.loss * state.asleep
    if not state.samples and saves < SMALL:
        return None  # no holder was seen asleep, and little is at stake
    return Cause(
        "blocking-section",
        one.name,
        f"{one.waiting} while {call(one.holder)} {doing(state)}, "
        f"{time(one.each_hold)} each time",
        (remedy(state),),
        saves,
        tuple(_evidence(one, state)),
        one.site.number,
        one.holder,
    )


def remedy(state: State) -> str:
    """Return the remedy for the sleep under the lock."""
    sleep = state.sleep
    if sleep and sleep.state is HolderState.EVENT:
        return EVENT
    if sleep and sleep.state is HolderState.FUTEX:
        return "Wait outside the lock"
    name = sleep.call if sleep else None
    return next((words for words, calls in CALLS.items() if name in calls), ANY)


def doing(state: State) -> str:
    """Return what the holder does: `sleeps in write()`."""
    sleep = state.sleep
    if sleep is None:
        return "sleeps or does I/O"
    if sleep.state is HolderState.EVENT:
        return "waits for a condition"
    if sleep.state is HolderState.FAULT:
        return "sleeps in a page fault"
    if sleep.state is HolderState.FUTEX:
        waits = waited_in(sleep.stack)
        return f"waits in {waits}()" if waits else "waits for another thread"
    if sleep.state is HolderState.ASLEEP or not sleep.call:
        return "sleeps"
    return f"sleeps in {NAMES.get(sleep.call, sleep.call)}()"


def waited_in(stack: Stack) -> str:
    """Return the library's function that waits for another thread; "" if unknown."""
    called = takewhile(is_library, stack)
    names = [without_arguments(frame.function) for frame in called]
    public = [name for name in names if name.startswith("std::")]
    found = (
        known
        for name in reversed(names)
        for pattern, known in WAITS.items()
        if pattern in name
    )
    return next(found, public[-1] if public else "")


def _evidence(one: SiteFacts, state: State) -> list[str]:
    how = (
        f"in {state.samples} samples with waiters"
        if state.samples
        else "estimated from CPU time"
    )
    said = f"holders sleep for {share(state.asleep)} of the time they hold it and run "
    lines = [f"{said}for {share(state.running)}, {how}"]
    if state.sleep and state.sleep.stack:
        stack = frames(state.sleep.stack)
        if stack:
            lines.append(f"they sleep in {stack}")
    return lines
