# SPDX-License-Identifier: MIT
"""Misuse of locks and inversions of the lock order, as sentences with stacks."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hasp.profile.model.naming import without_arguments
from hasp.profile.model.profile import Event, OrderedPair, Profile, Site, Thread
from hasp.profile.report.words import plural
from hasp.profile.symbols.frame import Frame, Stack

INVERSION, READERS = "order-inversion", "reader-inversion"
INVERSIONS = (INVERSION, READERS)
FRAMES = 8  # frames of a stack in text
# Frames below main and a thread's start function belong to the C library.
STARTERS = re.compile(
    r"start_thread|_*clone3?|__libc_start_\w+|_start|execute_native\w*"
)


@dataclass(frozen=True)
class Trace:
    """A stack with a description."""

    words: str
    stack: Stack


@dataclass(frozen=True)
class Finding:
    """One finding."""

    kind: str
    words: str
    event: Event
    traces: tuple[Trace, ...]
    sites: tuple[int, ...]  # numbers of the sites of the locks involved


class Names:
    """Names of locks and threads by their numbers."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def site(self, lock: int) -> Site | None:
        """Return the site of a lock."""
        return self._profile.site_of(lock)

    @cached_property
    def threads(self) -> Mapping[int, Thread]:
        """The threads by number."""
        return {thread.number: thread for thread in self._profile.threads}

    def lock(self, number: int) -> str:
        """Return a lock's site, with the lock's number if the site created several."""
        site = self.site(number)
        if site is None:
            return f"lock {number}" if number else "a lock"
        return site.name if len(site.locks) == 1 else f"{site.name} (lock {number})"

    def thread(self, number: int) -> str:
        """Return a thread's number and name."""
        known = self.threads.get(number)
        if known is None:
            return f"thread {number}" if number else "a thread"
        return f"thread {number} ({known.name})" if known.name else f"thread {number}"


SENTENCES = {
    "self-deadlock": "{thread} locks {lock}, which it already holds: it waits for "
    "itself",
    "foreign-unlock": "{thread} unlocks {lock}, which {other} holds",
    "unlock-refused": "{thread} tries to unlock {lock}, which it does not hold; the "
    "call failed with EPERM",
    "destroyed-held": "{thread} destroys {lock}, which {other} still holds",
    "initialised-held": "{lock} is initialised again, or its memory is reused, while "
    "{other} holds it",
    "exited-holding": "{thread} ended while it held {lock}: the next thread to lock it "
    "waits forever",
    "held-at-exit": "{lock} was still held by {thread} when the process ended",
    "destroyed-waited": "{thread} destroys {lock} while threads wait for it",
    "relock-refused": "{thread} locks {lock}, which it already holds; the call failed "
    "with EDEADLK",
}
TO_READ = " to read"
BEHIND_WRITERS = (
    " if a writer waits for a lock that both read: new readers queue behind "
    "the writer (PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)."
)
# For these findings, the stacks are those of the acquisition.
HELD_ON = ("exited-holding", "held-at-exit")


def findings(profile: Profile, names: Names | None = None) -> list[Finding]:
    """Return the misuse findings of a profile, without inversions of the lock order."""
    known = names or Names(profile)
    return [
        _finding(event, known)
        for event in profile.events
        if event.kind not in INVERSIONS
    ]


def _finding(event: Event, names: Names) -> Finding:
    other = event.other
    sentence = SENTENCES.get(event.kind, f"{{thread}}, {{lock}}: {event.kind}")
    words = sentence.format(
        thread=names.thread(event.thread),
        lock=names.lock(event.lock),
        other=_holder(event.thread, other, names),
    )
    if not sentence.startswith("{lock}"):  # names are not capitalised
        words = words[0].upper() + words[1:]
    again = f" ({plural(event.count, 'time')})" if event.count > 1 else ""
    where = "locked there" if event.kind in HELD_ON else "there"
    traces = (Trace(where, event.stack),) if event.stack else ()
    return Finding(
        event.kind, f"{words}{again}.", event, traces, _sites((event.lock,), names)
    )


def _holder(thread: int, holder: int, names: Names) -> str:
    if not holder:
        return "another thread"
    return "it" if holder == thread else names.thread(holder)


def inversions(profile: Profile, names: Names | None = None) -> list[Finding]:
    """Return the inversions: locks that are acquired in different orders.

    Two threads that do so concurrently can deadlock, even if this run did not.
    """
    known = names or Names(profile)
    after: dict[int, list[OrderedPair]] = {}
    for edge in profile.lock_order:
        after.setdefault(edge.outer, []).append(edge)
    return [
        _inversion(event, after, known)
        for event in profile.events
        if event.kind in INVERSIONS
    ]


def _inversion(
    event: Event, after: Mapping[int, list[OrderedPair]], names: Names
) -> Finding:
    circle = path(after, event.lock, event.other) + path(after, event.other, event.lock)
    if not _closed(circle):
        circle = path(after, event.lock, event.lock)
    ring = [names.lock(edge.outer) for edge in circle]
    if len(ring) > 2:
        order = ", then ".join([*ring, ring[0]])
        words = f"Locks are acquired in a cycle: {order}."
    elif ring:
        words = f"{ring[0]} and {ring[-1]} are acquired in both orders."
    else:
        first = names.lock(event.lock)
        words = f"{first} is acquired in both orders with another lock."
    words += " Threads that do so at the same time wait for each other forever"
    words += BEHIND_WRITERS if event.kind == READERS else "."
    traces = tuple(
        Trace(
            f"holding {names.lock(edge.outer)}{TO_READ if edge.outer_read else ''}, "
            f"acquires {names.lock(edge.inner)}{TO_READ if edge.inner_read else ''}"
            f" ({plural(edge.count, 'time')})",
            edge.stack,
        )
        for edge in circle
    )
    if not traces and event.stack:
        traces = (Trace("there", event.stack),)
    concerned = [edge.outer for edge in circle] or [event.lock]
    return Finding(event.kind, words, event, traces, _sites(concerned, names))


def _closed(circle: Sequence[OrderedPair]) -> bool:
    return bool(circle) and circle[-1].inner == circle[0].outer


def path(
    after: Mapping[int, list[OrderedPair]], start: int, end: int
) -> list[OrderedPair]:
    """Return a shortest path between two locks, or cycle, without trylocks."""
    came: dict[int, OrderedPair] = {}
    waiting = deque([start])
    while waiting and end not in came:
        for edge in after.get(waiting.popleft(), ()):
            if not edge.by_try and edge.inner not in came:
                came[edge.inner] = edge
                waiting.append(edge.inner)
    if end not in came:
        return []
    found = [came[end]]
    while found[-1].outer != start:
        found.append(came[found[-1].outer])
    return found[::-1]


def _sites(locks: Iterable[int], names: Names) -> tuple[int, ...]:
    found = (names.site(lock) for lock in locks)
    return tuple(dict.fromkeys(site.number for site in found if site))


def frame_words(frame: Frame) -> str:
    """Return `put at db.c:88` or `server+0x1234`."""
    if frame.file:
        short = frame.file.rsplit("/", 1)[-1]
        place = f"{short}:{frame.line}" if frame.line else short
    else:
        place = f"{frame.module.rsplit('/', 1)[-1] or '?'}+{frame.offset:#x}"
    inlined = " (inlined)" if frame.inlined else ""
    if not frame.function:
        return place
    return f"{without_arguments(frame.function) or frame.function} at {place}{inlined}"


def stack_words(stack: Stack) -> Iterator[str]:
    """Yield the informative frames of a stack, the innermost call first."""
    depth = len(stack)
    while depth > 1 and STARTERS.fullmatch(stack[depth - 1].function):
        depth -= 1
    for frame in stack[: min(depth, FRAMES)]:
        yield frame_words(frame)
    if depth > FRAMES:
        yield f"... {plural(depth - FRAMES, 'outer call')}"
