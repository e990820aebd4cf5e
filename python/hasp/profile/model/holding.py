# SPDX-License-Identifier: MIT
"""The activity of threads that hold a lock: sampled states, and the holding functions.

The recorder's sampler (100 Hz) inspects the holders of locks that other threads wait
for, and holds of at least 10 ms that nobody waits for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from hasp.profile.symbols.frame import Stack


class HolderState(str, Enum):
    """The state of a thread that holds a lock."""

    RUNNING = "running"  # on a CPU
    READY = "ready"  # preempted: it could run, but other threads use the CPUs
    IO = "io"  # in disk sleep, or blocked in a system call such as read or fsync
    ASLEEP = "asleep"  # in nanosleep and the like
    LOCK = "lock"  # waits for another recorded lock
    EVENT = "event"  # waits on a condition variable or barrier, with the lock held
    FAULT = "fault"  # in a page fault that blocks
    FUTEX = "futex"  # in a futex that belongs to no recorded lock
    OTHER = "other"


@dataclass(frozen=True)
class StateShare:
    """One state of the holders."""

    state: HolderState
    share: float  # of the samples
    samples: int
    # The most frequent system call in this state, such as "write"; None if the holder
    # was in none, or if system calls cannot be read.
    call: str | None = None
    waits_for: int | None = None  # LOCK, EVENT: number of the most frequent site
    # Where holders blocked most often, the innermost frame first. Frames are found by
    # scanning the thread's stack, so some may be left over from earlier calls. () if
    # unknown, and always for RUNNING and READY.
    stack: Stack = ()


@dataclass(frozen=True)
class RunningFunction:
    """A function that holders executed, from samples of their instruction pointers."""

    function: str
    module: str  # file name
    share: float  # of the samples of running holders
    samples: int
    allocates: bool  # malloc, free, operator new, mmap and the like


@dataclass(frozen=True)
class Holding:
    """The sampled states of the holders of a site's locks."""

    samples: int  # one for each holder and sample
    states: Sequence[StateShare]  # by share, descending
    functions: Sequence[RunningFunction] = ()  # by share, descending
    running_samples: int = 0  # with an instruction pointer
    # Share of all samples in which the holder allocated or freed memory: it executed
    # such a function, or was blocked in mmap, munmap, brk, madvise or a page fault.
    # None if instruction pointers were not sampled.
    allocation_share: float | None = None

    def share(self, *states: HolderState) -> float:
        """Return the share of the samples in any of these states."""
        return sum(one.share for one in self.states if one.state in states)

    def of(self, state: HolderState) -> StateShare | None:
        """Return the samples of one state; None if it was never seen."""
        return next((one for one in self.states if one.state is state), None)


@dataclass(frozen=True)
class HolderFunction:
    """A function of the program that acquired a site's locks, and its holds."""

    function: str  # without arguments; a place such as "server+0x1234" if unknown
    share: float  # of the site's hold time with a known stack
    holds: int
    hold_ns: int
    stack: Stack  # from the acquisition outward, of most of that time

    @property
    def mean_ns(self) -> float | None:
        """The mean duration of its holds; None without a hold."""
        return self.hold_ns / self.holds if self.holds else None
