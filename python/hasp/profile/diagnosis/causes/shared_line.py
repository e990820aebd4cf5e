# SPDX-License-Identifier: MIT
"""Locks of different threads lie in one cache line, so each use disturbs the others."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import (
    FEW,
    LINE,
    MATTERS,
    MOST,
    OPERATION,
    TRANSFER,
)
from hasp.profile.diagnosis.causes.words import (
    call,
    number,
    share,
    short_site,
    time,
)
from hasp.profile.model.profile import SiteStats

# The time to take a free lock in ns, two clock readings included: if its cache line is
# in this CPU's cache, and if another CPU has it. Measured: 26 to 66 (on a virtual
# machine whose atomic instructions are at times half as fast), and 54 to 160.
NEAR = 40.0
FAR = 70.0
# A lock whose line another CPU has takes at least this many times as long.
FARTHER = 1.4
SOME = 20  # timed acquisitions; a site with fewer is not compared with others
RARELY = 0.02  # of the acquisitions
LONGEST_OTHER = 40  # characters of the name of a neighbour
CACHED = 64  # locks whose lines stay in the cache, if nobody takes them away


def neighbours(one: SiteFacts) -> float:
    """Return the share of acquisitions of locks with a busy lock in their line."""
    busy: dict[int, int] = {}
    for line in one.site.shared_lines:
        both = min(line.acquisitions, line.neighbour_acquisitions)
        busy[line.lock] = max(both, busy.get(line.lock, 0))
    return min(sum(busy.values()) / max(one.use.acquisitions, 1), 1.0)


def _is_tried(use: SiteStats) -> bool:
    """Return whether its times are mostly those of trylocks.

    They are not compared with those of locks: the recorder reads the clock closer to
    the operation, so that a near line takes 10 ns instead of 27.
    """
    return use.trylocks > use.acquisitions / 2


def least_taking(one: SiteFacts) -> float | None:
    """Return the shortest time in ns to take a free lock of another site.

    Both times contain the same clock readings, on the same machine. None if no other
    site has enough timed acquisitions.
    """
    known = [
        site.total.each_taking_ns
        for site in one.facts.profile.sites
        if site is not one.site
        and site.total
        and site.total.taken_timed >= SOME
        and not _is_tried(site.total)
    ]
    return min((ns for ns in known if ns), default=None)


def in_line(one: SiteFacts) -> tuple[str, ...]:
    """Return the tool that shows whether threads use data next to a hot lock.

    The record has the locks' addresses only. Each acquisition takes the line away from
    threads that read other data in it.
    """
    if one.facts.workers < 2 or one.rate * TRANSFER < MATTERS * 1e9:
        return ()
    return (
        f"locked {number(one.rate)} times per second: if others use data in its cache "
        "line, `perf c2c` shows their loads (HITM)",
    )


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if threads disturb each other without sharing the lock."""
    return _with_neighbours(one) or _with_data(one)


def _with_data(one: SiteFacts) -> Cause | None:
    """Return the cause if other CPUs use the lock's cache line, but not the lock.

    Then even the thread that had it last takes the free lock slowly: each time, the
    cache line has to be fetched from another CPU.
    """
    use = one.use
    if use.taken_timed < FEW or one.facts.workers < 2 or _is_tried(use):
        return None
    taking = use.each_taking_ns or 0.0
    near = least_taking(one)
    if taking < (min(FAR, FARTHER * near) if near else FAR):
        return None
    changes = one.owner_changes / use.acquisitions
    others = len(one.facts.profile.threads) > 1 and len(one.site.locks) <= CACHED
    if not others or changes > RARELY or one.contended > RARELY:
        return None
    cost = use.acquisitions * (taking - min(near or NEAR, NEAR))
    return Cause(
        "shared-line",
        one.name,
        f"it takes {time(taking)} to lock in {call(one.holder)} though hardly "
        "anybody else does: others use data in its cache line",
        (f"Align the data after it to {2 * LINE} bytes", "Keep other data apart"),
        one.facts.share(2 * cost),  # those that use the data lose as much
        (
            f"locked {number(one.rate)} times per second, {share(changes)} of them "
            "after another thread; `perf c2c` shows the data",
        ),
        one.site.number,
        one.holder,
    )


def _with_neighbours(one: SiteFacts) -> Cause | None:
    """Return the cause if threads use neighbouring locks that they do not share."""
    use = one.use
    if (
        len(one.users) < 2
        or not use.acquisitions
        or use.acquisitions < one.facts.seconds
    ):
        return None
    changes = one.owner_changes / use.acquisitions
    if changes > MOST:  # the locks themselves move between threads
        return None
    shared = neighbours(one)
    if shared < MOST or one.use.contended > use.acquisitions * (1 - MOST) / 2:
        return None
    cost = use.acquisitions * shared * (OPERATION + TRANSFER)
    return Cause(
        "shared-line",
        one.name,
        _sharing(one),
        (f"Align each to {LINE} bytes",),
        one.facts.share(cost),
        (
            f"{share(shared)} of the acquisitions are of locks with a busy neighbour, "
            f"{share(changes)} change the owner",
        ),
        one.site.number,
        one.holder,
    )


def _sharing(one: SiteFacts) -> str:
    """Say which locks share lines: those of the site, or its only one and another."""
    taken = f"{call(one.holder)} takes"
    rate = f"{number(one.rate)} times per second"
    if len(one.site.locks) > 1:
        locks = number(len(one.site.locks))
        return (
            f"{locks} locks share cache lines; {taken} them {rate}"
            " and disturbs the neighbours"
        )
    busiest = max(one.site.shared_lines, key=lambda line: line.neighbour_acquisitions)
    neighbour = one.facts.profile.sites_by_number.get(busiest.neighbour_site)
    other = short_site(neighbour.name if neighbour else "another lock", LONGEST_OTHER)
    return f"it shares a cache line with {other}; {taken} it {rate}"
