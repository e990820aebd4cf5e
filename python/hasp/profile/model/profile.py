# SPDX-License-Identifier: MIT
"""A profile: the lock activity of one process, with times and names.

build.py creates it from a trace; diagnosis, reports and exports read nothing else.
Times are in nanoseconds, shares are fractions of 1. A figure that was not measured is
None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, reduce
from pathlib import PurePosixPath
from typing import Any

from hasp.profile.model.algorithms import in_words, of_kind
from hasp.profile.model.cache_lines import SharedLine
from hasp.profile.model.delegation import NO_DELEGATION, Delegation
from hasp.profile.model.distribution import Distribution
from hasp.profile.model.elision import Elision
from hasp.profile.model.fairness import Fairness, Stripes
from hasp.profile.model.foreign import ForeignWaits
from hasp.profile.model.held_at_end import HeldAtEnd
from hasp.profile.model.holding import HolderFunction, Holding
from hasp.profile.model.kinds import Kind as Kind
from hasp.profile.model.kinds import Operation as Operation
from hasp.profile.model.neighbour import Neighbour
from hasp.profile.model.process_row import ProcessRow
from hasp.profile.model.process_sample import ProcessSample
from hasp.profile.model.proofs import LockProof, Subject
from hasp.profile.model.readers_writers import ReadersWriters
from hasp.profile.model.runtimes import Runtime
from hasp.profile.model.thread import Thread as Thread
from hasp.profile.symbols.frame import Stack


@dataclass(frozen=True)
class SiteStats:
    """One operation on all locks of a site, by all threads or by one."""

    acquisitions: int
    contended: int
    wait: Distribution  # of contended acquisitions
    hold: Distribution
    handover: Distribution  # release to next acquire, while a thread waits
    trylocks: int = 0
    trylock_failures: int = 0
    longest_failing_run: int = 0
    timeouts: int = 0
    signals: int = 0
    broadcasts: int = 0
    owner_changes: int = 0
    node_changes: int = 0
    nested: int = 0
    samples_spinning: int = 0  # sampled waits, on a CPU
    samples_parked: int = 0
    cache_misses_counted: int = 0  # in `counted_sections` critical sections
    counted_sections: int = 0
    # Estimates: acquisitions that seemed uncontended but took long, because another
    # thread was faster. They are not included in `contended` and `wait`.
    unseen_waits: int = 0
    unseen_wait_ns: int = 0
    trying_ns: int = 0  # from failing trylocks to the next try, without work meanwhile
    taking_ns: int = 0  # by the lock, in `taken_timed` acquisitions that found it free
    taken_timed: int = 0
    # Waits on condition variables. A signal without a waiter wakes nobody. A wake-up is
    # futile if its thread waits on the same condition variable again and meanwhile has
    # neither released the mutex nor signalled: it found nothing to do. None in traces
    # of earlier versions.
    woken_by_signal: int | None = None
    woken_by_broadcast: int | None = None
    empty_signals: int | None = None  # signals and broadcasts without a waiter
    futile_wakes: int | None = None
    elision: Elision | None = None  # included in `acquisitions`, not in the times

    @property
    def spinning(self) -> float | None:
        """The share of sampled waits that were on a CPU; None without samples."""
        samples = self.samples_spinning + self.samples_parked
        return self.samples_spinning / samples if samples else None

    @property
    def each_taking_ns(self) -> float | None:
        """The mean time to take a free lock, with the clock's; None if not measured."""
        return self.taking_ns / self.taken_timed if self.taken_timed else None

    @property
    def cache_misses(self) -> float | None:
        """Cache misses per critical section; None if they were not counted."""
        sections = self.counted_sections
        return self.cache_misses_counted / sections if sections else None

    def __add__(self, other: SiteStats) -> SiteStats:
        def pair(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is None or theirs is None:
                return mine if theirs is None else theirs
            return max(mine, theirs) if name in LARGEST else mine + theirs

        return SiteStats(**{field.name: pair(field.name) for field in fields(self)})


LARGEST = {"longest_failing_run"}  # merged by maximum


@dataclass(frozen=True)
class Lock:
    """One lock."""

    number: int
    address: int
    kind: Kind
    flags: frozenset[str]  # recursive, errorcheck, shared, robust, priority, static
    born_ns: int  # since the start of the profile
    died_ns: int | None
    creations: int
    bytes: int
    acquisitions: int
    contended: int
    wait_ns: int
    hold_ns: int
    owner_changes: int
    waiters_mean: float | None  # over all samples
    waiters_p95: float | None
    waiters_max: int | None


@dataclass(frozen=True)
class Spot:
    """An address in a file, independent of where the file is mapped."""

    module: str  # file name
    build_id: str  # hexadecimal, "" if it has none
    offset: int


@dataclass(frozen=True)
class Origin:
    """Identifies the locks of a site across runs."""

    # Return addresses from the creation or first acquisition to the site's location,
    # the innermost first; () if there are too many.
    frames: tuple[Spot, ...]
    address: Spot | None  # of the lock itself; None on the heap


@dataclass(frozen=True)
class Site:
    """The locks that one source location created."""

    number: int
    kind: Kind
    name: str  # "db.c:88 &db->mu": the location and, if known, the lock's expression
    place: str  # "db.c:88", or "server+0x1234" without debug information
    expression: str | None  # "&db->mu", a global's name, or type.field
    created: Stack  # () if no init was recorded
    first: Stack  # the first acquisition
    locks: Sequence[Lock]
    stats: Mapping[Operation, SiteStats]
    threads: Mapping[int, Mapping[Operation, SiteStats]]  # by number; 0: ended ones
    share: float  # of all threads' time: acquiring, holding, releasing
    waiters_mean: float | None  # the maximum over the site's locks; so are the next two
    waiters_p95: float | None
    waiters_max: int | None
    origins: Sequence[Origin] = ()  # several if the compiler duplicated the code
    holding: Holding | None = None  # while other threads waited; None without samples
    long_holding: Holding | None = None  # holds of 10 ms or more without waiters
    holders: Sequence[HolderFunction] = ()  # by hold time, descending
    fairness: Fairness | None = None
    readers_writers: ReadersWriters | None = None  # rwlocks with sampled waits
    stripes: Stripes | None = None  # sites with several locks
    shared_lines: Sequence[SharedLine] = ()  # by acquisitions, descending

    @property
    def total(self) -> SiteStats | None:
        """All acquisitions: lock and relock of a mutex, read and write of a rwlock.

        For condition variables and barriers these are the waits. None without any.
        """
        return sum_of(self.stats.values())

    @property
    def module(self) -> str:
        """The file with the code that created or first acquired them; "" if unknown."""
        stack = self.created or self.first
        return stack[0].module if stack else ""


def sum_of(stats: Iterable[SiteStats]) -> SiteStats | None:
    """Return the sum of several uses; None for none."""
    return reduce(SiteStats.__add__, stats) if (stats := list(stats)) else None


@dataclass(frozen=True)
class OrderedPair:
    """`inner` was acquired while `outer` was held."""

    outer: int  # lock numbers
    inner: int
    count: int
    by_try: bool
    stack: Stack
    outer_read: bool = False  # true if every holder of `outer` was a reader
    inner_read: bool = False


@dataclass(frozen=True)
class Event:
    """A finding of the recorder, or an inversion of the lock order."""

    # self-deadlock, foreign-unlock, unlock-refused, destroyed-held, initialised-held,
    # exited-holding, held-at-exit, destroyed-waited, relock-refused, order-inversion or
    # reader-inversion
    kind: str
    thread: int
    lock: int
    other: int
    count: int
    at_ns: int  # since the start of the profile
    stack: Stack


@dataclass(frozen=True)
class Overhead:
    """The cost of recording: measured in total, and calibrated per operation."""

    share: float  # of the program's time, see overhead.py
    counted_ns: float  # a counted operation, with warm caches
    timed_ns: float  # a timed operation
    stack_ns: float
    spent_ns: int = 0  # CPU time
    pair_ns: float = 0.0  # a lock and unlock without the recorder; 0: older traces


@dataclass(frozen=True)
class Weight:
    """Waits and holds by stack: number and total time."""

    lock: int
    stack: Stack
    waits: int
    wait_ns: int
    holds: int
    hold_ns: int


@dataclass(frozen=True)
class WaiterSample:
    """The number of threads waiting for a lock in one sample."""

    at_ns: int
    lock: int
    waiters: int
    holder: int  # thread number, or 0
    weight: int
    holders_on_cpu: int = 0  # holders that were inspected
    holders_off_cpu: int = 0  # preempted or blocked


USUAL_SAMPLE_NS = 10_000_000.0  # 100 Hz, if the trace does not record it


@dataclass(frozen=True)
class Profile:
    """The profile of one process."""

    command: Sequence[str]
    executable: str
    pid: int
    lock: str  # the algorithm of mutexes in the run
    mode: str  # full or sampled
    cpus: int
    nodes: int
    duration_ns: int
    began: float  # seconds since the epoch
    ended: bool  # false: killed, or still running
    section_share: float  # of all threads' time, in sections; nested ones count once
    threads: Sequence[Thread]
    sites: Sequence[Site]  # by share, descending
    lock_order: Sequence[OrderedPair]
    events: Sequence[Event]
    weights: Sequence[Weight]
    waiters: Sequence[WaiterSample]
    process_samples: Sequence[ProcessSample]
    overhead: Overhead
    locks_created: int
    locks_destroyed: int
    warnings: Sequence[str]  # sentences: what was lost, cut off or not measured
    processes: Sequence[ProcessRow] = ()  # of a merged profile
    skipped_ns: int | None = None  # of a part of the run: recording before it
    others: Sequence[str] = ()  # traces of the other processes of the run
    damaged: bool = False  # parts of the trace could not be read
    samples: int = 0  # number of samples of waiters
    counter: str | None = None  # the event behind `cache_misses`: "cache misses"
    counter_absent: str | None = None  # why no event was counted
    # Why something was not measured; None if it was, even if nothing was found.
    holding_absent: str | None = None  # states of holders
    functions_absent: str | None = None  # Holding.functions and allocation_share
    foreign_absent: str | None = None
    data_lines_absent: str | None = None  # a mutex and its data in one cache line
    foreign: ForeignWaits | None = None
    neighbour: Neighbour | None = None  # the busiest other program
    processor: str = ""  # as base.host.processor(); empty: not known
    build_id: str = ""  # of the executable, hexadecimal
    proofs: Sequence[LockProof] = ()  # measurements of locks that hold for this run
    stale_proofs: str = ""  # why others beside the trace are ignored
    unseen_runtimes: Sequence[Runtime] = ()
    held_at_end: Sequence[HeldAtEnd] = ()
    transactions: str = ""  # that elided locks: rtm; emulated: script or undo
    delegation: Delegation = NO_DELEGATION
    other_locks: Mapping[Kind, str] = field(default_factory=dict)  # not glibc's
    # Site numbers by lock number; 0: none. If empty, the sites' locks are searched.
    lock_sites: Sequence[int] = field(default=(), compare=False, repr=False)

    def algorithm(self, kind: Kind) -> str:
        """Return the algorithm that the locks of a kind had; a plan's label if any."""
        return of_kind(kind, self.lock, self.other_locks)

    @property
    def algorithms(self) -> str:
        """All algorithms of the run in words: "mcs, rwlock phase-fair"."""
        return in_words(self.lock, self.other_locks)

    @property
    def thread_count(self) -> int:
        """The number of recorded threads, counting all that shared a record."""
        return sum(1 + thread.earlier for thread in self.threads)

    @property
    def runnable(self) -> float | None:
        """The mean number of threads running or ready to run, while any was.

        Threads that sleep in a wait do not count. None without samples.
        """
        counts = [one.runnable for one in self.process_samples if one.runnable]
        return sum(counts) / len(counts) if counts else None

    @property
    def program(self) -> str:
        """The program's name as it was called, which may be a link to another one."""
        words = self.command
        called = words[0] if words and words[0] else self.executable
        return PurePosixPath(called).name

    @property
    def subject(self) -> Subject:
        """The subject of proofs: the program, its threads, and the machine's size."""
        name = PurePosixPath(self.executable).name
        threads = max((one.threads for one in self.process_samples), default=0)
        threads = threads or self.thread_count
        return Subject(name, self.build_id, threads, self.cpus, self.nodes)

    @property
    def sample_ns(self) -> float:
        """The mean time between two samples."""
        usual = USUAL_SAMPLE_NS
        return max(self.duration_ns / self.samples, 1.0) if self.samples else usual

    def site_of(self, lock: int) -> Site | None:
        """Return the site of a lock by its number; None if it is not known."""
        if len(self.lock_sites):
            if not 0 < lock < len(self.lock_sites):
                return None
            return self.sites_by_number.get(int(self.lock_sites[lock]))
        return self._sites_by_lock.get(lock)

    @cached_property
    def sites_by_number(self) -> Mapping[int, Site]:
        """The sites by their numbers."""
        return {site.number: site for site in self.sites}

    @cached_property
    def _sites_by_lock(self) -> dict[int, Site]:
        return {lock.number: site for site in self.sites for lock in site.locks}
