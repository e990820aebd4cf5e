# SPDX-License-Identifier: MIT
"""A profile: what one process did with its locks, in nanoseconds and words.

Built from a trace by build.py; everything that explains, draws, exports or advises
reads this and nothing else. Times are nanoseconds, shares are fractions of 1. A figure
that was not measured is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property, reduce
from typing import Any

from hasp.profile.model.distribution import Distribution
from hasp.profile.symbols.frame import Stack


class Kind(str, Enum):
    """What sort of lock."""

    MUTEX = "mutex"
    RWLOCK = "rwlock"
    SPINLOCK = "spinlock"
    CONDITION = "condvar"
    BARRIER = "barrier"


class Operation(str, Enum):
    """What was done with it; each has its own counts and distributions."""

    LOCK = "lock"
    READ = "read"
    WRITE = "write"
    WAIT = "wait"  # on a condition variable
    BARRIER = "barrier"
    RELOCK = "relock"  # of a mutex, after a wait on a condition variable


@dataclass(frozen=True)
class Use:
    """One operation on all locks of a site, summed over threads, or for one thread."""

    acquisitions: int
    contended: int
    wait: Distribution  # of those that were contended
    hold: Distribution
    handover: Distribution  # release to the next acquire, somebody waiting
    trylocks: int = 0
    trylock_failures: int = 0
    longest_failing_run: int = 0
    timeouts: int = 0
    signals: int = 0
    broadcasts: int = 0
    owner_changes: int = 0
    node_changes: int = 0
    nested: int = 0
    samples_spinning: int = 0  # of waits, by the sampler
    samples_parked: int = 0
    cache_misses_counted: int = 0  # in `counted_sections` critical sections
    counted_sections: int = 0
    # Estimated: acquisitions that looked free and took long all the same, because
    # another thread was quicker. They are not among `contended`, nor in `wait`.
    unseen_waits: int = 0
    unseen_wait_ns: int = 0

    @property
    def spinning(self) -> float | None:
        """The share of sampled waits that were on a CPU."""
        samples = self.samples_spinning + self.samples_parked
        return self.samples_spinning / samples if samples else None

    @property
    def cache_misses(self) -> float | None:
        """Cache misses per critical section."""
        sections = self.counted_sections
        return self.cache_misses_counted / sections if sections else None

    def __add__(self, other: Use) -> Use:
        def pair(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            return max(mine, theirs) if name in LARGEST else mine + theirs

        return Use(**{field.name: pair(field.name) for field in fields(self)})


LARGEST = {"longest_failing_run"}  # fields of Use that do not add up


@dataclass(frozen=True)
class Lock:
    """One lock object."""

    number: int
    address: int
    kind: Kind
    flags: frozenset[str]  # recursive, errorcheck, shared, robust, priority, static
    born_ns: int  # since the profile began
    died_ns: int | None
    lives: int
    bytes: int
    acquisitions: int
    contended: int
    wait_ns: int
    hold_ns: int
    owner_changes: int
    waiters_mean: float | None  # over the samples of the whole run
    waiters_p95: float | None
    waiters_max: int | None


@dataclass(frozen=True)
class Spot:
    """An address in a file, which holds wherever the file is loaded."""

    module: str  # file name
    build_id: str  # hexadecimal, "" if it has none
    offset: int


@dataclass(frozen=True)
class Origin:
    """What tells the locks of a site from others in another run."""

    frames: tuple[Spot, ...]  # return addresses from the creation, or the first lock,
    # up to the site's place, the innermost first; () if these are too many
    address: Spot | None  # of the lock itself; None on the heap


@dataclass(frozen=True)
class Site:
    """The locks that one place of the program made."""

    number: int
    kind: Kind
    name: str  # "db.c:88 &db->mu": the place and, where known, the lock in the
    # program's own words
    place: str  # "db.c:88", or "server+0x1234" without debug information
    expression: str | None  # "&db->mu", a global's name, or type.field
    created: Stack  # () where no init was seen
    first: Stack  # the first acquisition
    locks: Sequence[Lock]
    uses: Mapping[Operation, Use]
    threads: Mapping[int, Mapping[Operation, Use]]  # by thread; 0: others
    share: float  # of all threads' time: in acquire, section and release
    waiters_mean: float | None  # of the site's lock that had most, as are the next two
    waiters_p95: float | None
    waiters_max: int | None
    origins: Sequence[Origin] = ()  # several where the compiler copied the place

    @property
    def total(self) -> Use | None:
        """All acquisitions: lock and relock of a mutex, read and write of a rwlock.

        A condition variable's and a barrier's are their waits. None without any.
        """
        return sum_of(self.uses.values())


def sum_of(uses: Iterable[Use]) -> Use | None:
    """Several uses as one."""
    return reduce(Use.__add__, uses) if (uses := list(uses)) else None


@dataclass(frozen=True)
class Thread:
    """One thread, or several that used one record in turn."""

    number: int
    tid: int
    name: str
    began_ns: int
    ended_ns: int | None
    section_ns: int
    wait_ns: int
    idle_ns: int
    cpu_ns: int
    voluntary: int
    involuntary: int
    minor_faults: int
    major_faults: int
    migrations: int
    long_holds: int
    preempted_holds: int
    waiting_for: int | None  # lock number, at the end of the trace
    waiting_since_ns: int | None
    held: tuple[int, ...]  # lock numbers
    waiting_to: Operation | None = None
    waiting_stack: Stack = ()  # of that wait, where one was taken
    earlier: int = 0  # threads that used the record before this one, and have ended


@dataclass(frozen=True)
class Edge:
    """`inner` was acquired while `outer` was held."""

    outer: int  # lock numbers
    inner: int
    count: int
    by_try: bool
    stack: Stack
    outer_read: bool = False  # only ever held, or acquired, by readers of a rwlock
    inner_read: bool = False


@dataclass(frozen=True)
class Event:
    """A finding of the recorder, or of the order of locks."""

    kind: str  # self-deadlock, foreign-unlock, unlock-refused, destroyed-held,
    # initialised-held, exited-holding, held-at-exit, destroyed-waited, relock-refused,
    # order-inversion, reader-inversion
    thread: int
    lock: int
    other: int
    count: int
    at_ns: int  # since the profile began
    stack: Stack


@dataclass(frozen=True)
class Overhead:
    """What the tool itself cost: what it measured, and its calibration at the start."""

    share: float  # of the CPU time, the sampler's included
    counted_ns: float  # for one operation that is counted, all of it in the cache
    timed_ns: float  # and for one that is timed
    stack_ns: float
    spent_ns: int = 0  # CPU time that it took in all


@dataclass(frozen=True)
class Weight:
    """Waits and holds by stack: how many, and their time."""

    lock: int
    stack: Stack
    waits: int
    wait_ns: int
    holds: int
    hold_ns: int


@dataclass(frozen=True)
class WaiterSample:
    """How many threads waited for a lock at one moment."""

    at_ns: int
    lock: int
    waiters: int
    holder: int  # thread, or 0
    weight: int


@dataclass(frozen=True)
class Moment:
    """The process at one moment; sums since its start."""

    at_ns: int
    threads: int
    waiting: int
    runnable: int | None
    cpu_ns: int
    system_ns: int
    minor_faults: int
    involuntary: int
    locks_created: int


USUAL_LOOK_NS = 10_000_000.0  # 100 Hz, where the trace does not tell


@dataclass(frozen=True)
class Profile:
    """One process."""

    command: Sequence[str]
    executable: str
    pid: int
    lock: str  # the lock it ran under
    mode: str  # full or sampled
    cpus: int
    nodes: int
    duration_ns: int
    began: float  # seconds since the epoch
    ended: bool  # False: killed, or still running
    section_share: float  # of all threads' time in critical sections, nested once
    threads: Sequence[Thread]
    sites: Sequence[Site]  # by share, the largest first
    edges: Sequence[Edge]
    events: Sequence[Event]
    weights: Sequence[Weight]
    waiters: Sequence[WaiterSample]
    moments: Sequence[Moment]
    overhead: Overhead
    locks_created: int
    locks_destroyed: int
    warnings: Sequence[str]  # doubts in words: what was lost, cut or not measured
    others: Sequence[str] = ()  # traces of the same run's other processes
    damaged: bool = False  # parts of the trace could not be read
    looks: int = 0  # how often the sampler looked who waits
    counter: str | None = None  # what `cache_misses` of uses are: cache misses, ...
    counter_absent: str | None = None  # why there is none, in words
    # Numbers of sites by number of lock, 0: none; a profile without it looks at locks.
    lock_sites: Sequence[int] = field(default=(), compare=False, repr=False)

    @property
    def thread_count(self) -> int:
        """How many threads were recorded: those that shared a record count each."""
        return sum(1 + thread.earlier for thread in self.threads)

    @property
    def look_ns(self) -> float:
        """The mean time between two looks of the sampler."""
        if not self.looks:
            return USUAL_LOOK_NS
        return max(self.duration_ns / self.looks, 1.0)

    def site_of(self, lock: int) -> Site | None:
        """The site of a lock by its number."""
        if len(self.lock_sites):
            known = 0 < lock < len(self.lock_sites)
            return self._sites.get(int(self.lock_sites[lock])) if known else None
        return self._sites_by_lock.get(lock)

    @cached_property
    def _sites(self) -> dict[int, Site]:
        return {site.number: site for site in self.sites}

    @cached_property
    def _sites_by_lock(self) -> dict[int, Site]:
        return {lock.number: site for site in self.sites for lock in site.locks}
