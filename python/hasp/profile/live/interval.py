# SPDX-License-Identifier: MIT
"""The difference between two snapshots, by site and by thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hasp.profile.model.delegation import NO_DELEGATION, Delegation
from hasp.profile.model.lock_sums import KINDS
from hasp.profile.model.snapshot import ACQUIRING, Place, Snapshot, Sums, ThreadNow
from hasp.profile.report.words import short_time
from hasp.profile.trace.format import Operation

Naming = Callable[[Place], str]
# ns; ongoing holds above this are shown, at ten times the sampling interval
WORTH_SAYING = 1e8
VERBS = {
    Operation.WAIT: "waits on",
    Operation.BARRIER: "waits at",
}


@dataclass
class SiteRow:
    """A site in the interval. Sites of equal name and kind share a row."""

    name: str
    kind: str
    sums: Sums = field(default_factory=Sums)
    under_way: int = 0  # ticks of ongoing holds, not yet in the sums
    waiting: float = 0.0  # threads, on average
    held: float = 0.0  # locks, on average
    acquisitions: float = 0.0  # per second
    contended: float | None = None  # share of the acquisitions
    elided: float | None = None  # share of the acquisitions
    waiters: int = 0  # at the end of the interval
    # names of threads at the end of the interval
    holders: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ThreadRow:
    """A thread in the interval."""

    name: str
    tid: int
    waiting: float  # share of the time
    section: float
    cpu: float
    state: str  # at the end of the interval, in words


@dataclass(frozen=True)
class Interval:
    """All rows, and the whole program."""

    seconds: float
    sites: list[SiteRow]
    threads: list[ThreadRow]
    section_share: float | None  # of the threads' time
    delegation: Delegation = NO_DELEGATION


def between(before: Snapshot | None, after: Snapshot, name: Naming) -> Interval:
    """Return the difference; without a first snapshot, since the recording began."""
    ticks = max(after.now - (before.now if before else after.begin), 1)
    lifetime = after.lifetime - (before.lifetime if before else 0)
    section = after.section - (before.section if before else 0)
    return Interval(
        seconds=ticks * after.ns_per_tick / 1e9,
        sites=_sites(before, after, ticks, name),
        threads=list(_threads(before, after, ticks, name)),
        section_share=min(max(section / lifetime, 0.0), 1.0) if lifetime > 0 else None,
    )


def _sites(
    before: Snapshot | None, after: Snapshot, ticks: int, name: Naming
) -> list[SiteRow]:
    rows: dict[tuple[str, str], SiteRow] = {}

    def row_of(place: Place) -> SiteRow:
        key = (name(place), KINDS[place.kind].value)
        return rows.setdefault(key, SiteRow(*key))

    for place, sums in after.sites.items():
        row_of(place).sums.add(sums)
        if before and place in before.sites:
            row_of(place).sums.add(before.sites[place], -1)
    labels = _labels(after)
    for thread in after.threads:
        awaited = after.place_of.get(thread.waiting_for)
        if awaited and thread.operation in ACQUIRING:
            row_of(awaited).waiters += 1
        for number in thread.held:
            if number in after.place_of:
                row_of(after.place_of[number]).holders.append(labels[thread.number])
        holding = after.place_of.get(thread.held[0]) if thread.held else None
        if holding and not thread.holding_timed:
            began = before.now if before else after.begin
            row_of(holding).under_way += thread.holding(after.now, began)
    for row in rows.values():
        _rates(row, ticks, after.ns_per_tick / 1e9)
    return list(rows.values())


def _rates(row: SiteRow, ticks: int, seconds_per_tick: float) -> None:
    # Fields change one by one while the program runs, so a difference may be off by one
    # operation. Negative differences count as zero.
    sums = row.sums
    row.waiting = max(sums.wait, 0) / ticks
    row.held = (max(sums.hold, 0) + row.under_way) / ticks
    row.acquisitions = max(sums.acquisitions, 0) / (ticks * seconds_per_tick)
    if sums.acquisitions > 0:
        row.contended = min(max(sums.contended, 0) / sums.acquisitions, 1.0)
        row.elided = min(max(sums.elided, 0) / sums.acquisitions, 1.0)


def _threads(
    before: Snapshot | None, after: Snapshot, ticks: int, name: Naming
) -> Iterator[ThreadRow]:
    earlier = {(t.number, t.tid): t for t in before.threads} if before else {}
    for thread in after.threads:
        old = earlier.get((thread.number, thread.tid))
        wait = thread.wait + _acquiring(thread, after.now)
        if old and before:
            wait -= old.wait + _acquiring(old, before.now)
        section = thread.section - (old.section if old else 0)
        cpu_ns = thread.cpu_ns - (old.cpu_ns if old else 0)
        yield ThreadRow(
            name=thread.name,
            tid=thread.tid,
            waiting=min(max(wait / ticks, 0.0), 1.0),
            section=min(max(section / ticks, 0.0), 1.0),
            cpu=max(cpu_ns / (ticks * after.ns_per_tick), 0.0),
            state=_state(thread, after, name),
        )


def _acquiring(thread: ThreadNow, now: int) -> int:
    return thread.waited(now) if thread.operation in ACQUIRING else 0


def _labels(now: Snapshot) -> dict[int, str]:
    """Return the threads' labels: the name if it is unique, else the thread id."""
    times = Counter(thread.name for thread in now.threads)
    return {
        thread.number: thread.name
        if thread.name and times[thread.name] == 1
        else str(thread.tid)
        for thread in now.threads
    }


def _state(thread: ThreadNow, now: Snapshot, name: Naming) -> str:
    parts = []
    if thread.operation != Operation.IDLE:
        since = short_time(thread.waited(now.now) * now.ns_per_tick)
        place = now.place_of.get(thread.waiting_for)
        verb = VERBS.get(thread.operation, "waits for")
        parts.append(f"{verb} {name(place) if place else 'a lock'}, {since}")
    held = [name(now.place_of[n]) for n in thread.held if n in now.place_of]
    if held:
        lasts = thread.holding(now.now) * now.ns_per_tick
        since = f", {short_time(lasts)}" if lasts >= WORTH_SAYING else ""
        parts.append(f"holds {', '.join(held)}{since}")
    return "; ".join(parts)
