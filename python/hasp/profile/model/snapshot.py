# SPDX-License-Identifier: MIT
"""The state of a running program's trace: sums since its start.

Only what the live view shows is read, in columns. A full profile of a program with many
locks would take longer than the interval between two snapshots.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hasp.profile.model.algorithms import in_words, other_locks
from hasp.profile.model.lifetime import lifetime_of
from hasp.profile.model.lock_sums import KINDS
from hasp.profile.model.overhead import overhead_of
from hasp.profile.model.unseen import unseen_wait
from hasp.profile.trace.format import ChunkKind, LockKind, Operation, Records
from hasp.profile.trace.reader import Trace, text

# Operations that wait for a lock. Waits on condition variables and barriers are idle.
ACQUIRING = (Operation.LOCK, Operation.READ, Operation.WRITE, Operation.RELOCK)

OPERATIONS = frozenset(int(operation) for operation in Operation)


@dataclass(frozen=True)
class Place:
    """A site: the kind of its locks and the number of its origin's stack."""

    kind: LockKind
    stack: int


@dataclass
class Sums:
    """Sums over all locks of a site since the start; times in ticks.

    Pending waits count up to now, as do pending holds that will be added when they end,
    so that differences between snapshots are right.
    """

    acquisitions: int = 0
    contended: int = 0
    wait: int = 0
    hold: int = 0
    elided: int = 0  # of the acquisitions

    def add(self, other: Sums, sign: int = 1) -> None:
        """Add another's sums, or subtract them."""
        self.acquisitions += sign * other.acquisitions
        self.contended += sign * other.contended
        self.wait += sign * other.wait
        self.hold += sign * other.hold
        self.elided += sign * other.elided


@dataclass(frozen=True)
class ThreadNow:
    """A thread that is alive."""

    number: int
    tid: int
    name: str
    operation: Operation  # the operation that it waits in; IDLE if it does not wait
    waiting_for: int  # lock number, or 0
    waiting_since: int  # ticks
    held: tuple[int, ...]  # lock numbers
    holding_since: int  # ticks: start of the outermost hold at the latest; 0: not known
    holding_timed: bool  # the whole hold is added to the site's sums when it ends
    section: int  # ticks in critical sections
    wait: int  # ticks; excludes the pending wait
    cpu_ns: int

    def waited(self, now: int) -> int:
        """Return the duration of the pending wait in ticks."""
        return max(now - self.waiting_since, 0) if self.waiting_for else 0

    def holding(self, now: int, since: int = 0) -> int:
        """Return how many ticks the outermost hold has lasted after `since`."""
        known = self.held and self.holding_since
        return max(now - max(self.holding_since, since), 0) if known else 0


@dataclass(frozen=True)
class Snapshot:
    """The state of a process."""

    path: Path
    pid: int
    command: str
    lock: str  # the algorithms, in words
    elides: bool  # by transactions
    ended: bool
    begin: int  # ticks
    now: int
    ns_per_tick: float
    sites: Mapping[Place, Sums]
    threads: tuple[ThreadNow, ...]
    # sites by lock, for locks that are held or waited for
    place_of: Mapping[int, Place]
    lifetime: float  # total lifetime of all threads so far, in ticks
    section: int  # ticks in critical sections
    overhead_share: float  # the recorder's share of the program's time so far
    # Numbered records of delegates and servers.
    delegates: Records = field(compare=False)
    servers: Records = field(compare=False)


def take(path: Path) -> Snapshot:
    """Read the current state of a trace."""
    trace = Trace(path)
    header = trace.header
    begin, latest = header["begin"], header["latest"]
    ticks = int(latest["ticks"]) - int(begin["ticks"])
    ns = int(latest["monotonic_ns"]) - int(begin["monotonic_ns"])
    records = trace.numbered(ChunkKind.THREADS)
    now = int(latest["ticks"])
    threads = tuple(_living(records))
    wanted = {thread.waiting_for for thread in threads}
    wanted.update(number for thread in threads for number in thread.held)
    ns_per_tick = ns / ticks if ticks > 0 and ns > 0 else 1.0
    place_of = _places(trace, wanted - {0})
    lifetime = lifetime_of(records, now)
    sites = _sites(trace)
    for thread in threads:
        place = place_of.get(thread.waiting_for)
        if place and thread.operation in ACQUIRING:
            sites.setdefault(place, Sums()).wait += thread.waited(now)
        holding = place_of.get(thread.held[0]) if thread.held else None
        if holding and thread.holding_timed:
            sites.setdefault(holding, Sums()).hold += thread.holding(now)
    return Snapshot(
        path=path,
        pid=int(header["pid"]),
        command=_command(bytes(header["command"])),
        lock=in_words(text(header["lock"]), other_locks(header)),
        elides=bool(header["transactions"]),
        ended=bool(header["ended"]),
        begin=int(begin["ticks"]),
        now=now,
        ns_per_tick=ns_per_tick,
        sites=sites,
        threads=threads,
        place_of=place_of,
        lifetime=lifetime,
        section=int(records["section_ticks"].sum(dtype=np.uint64)),
        overhead_share=overhead_of(
            header, records, ns_per_tick, lifetime * ns_per_tick
        ).share,
        delegates=trace.numbered(ChunkKind.DELEGATES),
        servers=trace.numbered(ChunkKind.SERVERS),
    )


def _command(raw: bytes) -> str:
    words = raw.rstrip(b"\0").split(b"\0")
    return " ".join(text(word) for word in words)


def _living(records: Records) -> Iterable[ThreadNow]:
    for number, record in enumerate(records):
        if not record["began"] or record["ended"]:
            continue
        # Read once: the thread may stop waiting in the meantime.
        waiting_for, operation = int(record["waiting_for"]), int(record["waiting_to"])
        since = int(record["waiting_since"])
        depth = min(int(record["depth"]), len(record["held"]))
        unseen = unseen_wait(record)
        if unseen:
            waiting_for, operation = unseen, int(Operation.LOCK)
            since, depth = int(record["unseen_since"]), depth - 1
        yield ThreadNow(
            number=number,
            tid=int(record["tid"]),
            name=text(record["name"]),
            operation=Operation(operation)
            if waiting_for and operation in OPERATIONS
            else Operation.IDLE,
            waiting_for=waiting_for,
            waiting_since=since,
            held=tuple(number for number in record["held"][:depth].tolist() if number),
            holding_since=int(record["holding_since"]),
            holding_timed=bool(record["holding_timed"]),
            section=int(record["section_ticks"]),
            wait=int(record["wait_ticks"]),
            cpu_ns=int(record["cpu_ns"]),
        )


def _sums(records: Records) -> Sums:
    def total(column: np.ndarray) -> int:
        return int(column.sum(dtype=np.uint64))

    return Sums(
        acquisitions=total(records["acquisitions"]),
        contended=total(records["contended"]),
        wait=total(records["wait_ticks"]),
        hold=total(records["hold_ticks"]),
        elided=total(records["elision"]["elided"]),
    )


def _sites(trace: Trace) -> dict[Place, Sums]:
    found: dict[Place, Sums] = {}
    for chunk in trace.each(ChunkKind.SITE_STATS):
        records = chunk.records
        kinds, stacks = records["lock_kind"], records["site"]
        acquiring = np.isin(records["operation"], ACQUIRING)
        keys = kinds.astype(np.uint64) << 32 | stacks
        for key in np.unique(keys[acquiring]).tolist():
            kind = key >> 32
            if kind not in KINDS:
                continue
            these = records[acquiring & (keys == key)]
            sums = found.setdefault(Place(LockKind(kind), key & 0xFFFFFFFF), Sums())
            sums.add(_sums(these))
    return found


def _places(trace: Trace, numbers: set[int]) -> dict[int, Place]:
    """Return the sites of a few locks. There may be millions of others."""
    found = {}
    for chunk in trace.each(ChunkKind.LOCKS):
        end = chunk.first + len(chunk.records)
        for number in [n for n in numbers if chunk.first <= n < end]:
            record = chunk.records[number - chunk.first]
            if int(record["kind"]) in KINDS:
                kind = LockKind(int(record["kind"]))
                found[number] = Place(kind, int(record["site"]))
    return found
