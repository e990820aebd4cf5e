# SPDX-License-Identifier: MIT
"""One process of a merge, with what is added to its numbers and times."""

from __future__ import annotations

from dataclasses import replace

from hasp.profile.model.profile import Lock, Profile, Thread, WaiterSample


class Part:
    """A process; `locks`, `threads` and `ns` are added to its numbers and times."""

    def __init__(self, profile: Profile, locks: int, threads: int, ns: int) -> None:
        self.profile = profile
        self._locks, self._threads, self.ns = locks, threads, ns
        self.lived_ns = sum(
            (profile.duration_ns if one.ended_ns is None else one.ended_ns)
            - one.began_ns
            for one in profile.threads
        )

    def lock(self, number: int) -> int:
        return number + self._locks if number else 0

    def thread(self, number: int) -> int:
        return number + self._threads if number else 0

    def moved_lock(self, lock: Lock) -> Lock:
        died = None if lock.died_ns is None else lock.died_ns + self.ns
        return replace(
            *(lock,),
            number=self.lock(lock.number),
            born_ns=lock.born_ns + self.ns,
            died_ns=died,
        )

    def moved_thread(self, thread: Thread) -> Thread:
        waiting = thread.waiting_for
        since = thread.waiting_since_ns
        return replace(
            thread,
            number=self.thread(thread.number),
            began_ns=thread.began_ns + self.ns,
            ended_ns=self._end(thread),
            waiting_for=None if waiting is None else self.lock(waiting),
            waiting_since_ns=None if since is None else since + self.ns,
            held=tuple(map(self.lock, thread.held)),
        )

    def _end(self, thread: Thread) -> int | None:
        """Return the end; a thread that was alive ended with its process."""
        if thread.ended_ns is not None:
            return thread.ended_ns + self.ns
        blocked = thread.waiting_for is not None or thread.held
        return None if blocked else self.profile.duration_ns + self.ns

    def moved_sample(self, one: WaiterSample) -> WaiterSample:
        return replace(
            one,
            at_ns=one.at_ns + self.ns,
            lock=self.lock(one.lock),
            holder=self.thread(one.holder),
        )
