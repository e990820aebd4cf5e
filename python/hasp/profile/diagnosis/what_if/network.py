# SPDX-License-Identifier: MIT
"""A profile as a closed queueing network: threads circulate between locks.

Each thread repeats its recorded work: it spends time outside of locks, acquires a lock,
holds it, sometimes acquires another one inside, and releases them. Times are means per
thread in ns, as measured, that is with interruptions. Locks that are hardly used belong
to the time outside.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hasp.profile.model.distribution import NOTHING, Distribution
from hasp.profile.model.profile import (
    Kind,
    Operation,
    Profile,
    Site,
    SiteStats,
    Thread,
)

HOLDING = (Operation.LOCK, Operation.READ, Operation.WRITE, Operation.RELOCK)
LEAST_USED = 0.02  # of the time; a lock held for less hardly delays anybody
# of the run; threads that live for less are replaced by average ones that live longer,
# unless they live until its end
LONG_LIVED = 0.7
END = 0.95


@dataclass(frozen=True)
class Station:
    """The locks of one site."""

    site: int
    name: str
    weights: tuple[float, ...]  # how often each lock is acquired
    handover: Distribution  # its shape, from a release to a waiter's acquisition
    handover_ns: float  # mean time without a holder after a release with waiters
    hold: Distribution  # its shape; each thread has its own mean
    hold_shares: bool  # readers share it
    # how often each other station is acquired in one section
    inner: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Visits:
    """The acquisitions of one site by one thread, outside of other locks."""

    number: float
    hold_ns: float  # mean, without locks that are acquired inside
    wait_ns: float  # in total, measured
    reads: float  # share of acquisitions that are shared


@dataclass(frozen=True)
class Customer:
    """One thread, or several identical ones."""

    population: int
    lived_ns: float  # of each
    locked_ns: float  # of each, in total: to wait for locks and to hold them
    outside_ns: float  # the rest; 0 if the former is longer, which is an estimate
    idle_ns: float  # the part of it on condition variables and barriers
    visits: Mapping[int, Visits]  # by site, of each
    inner_hold_ns: Mapping[int, float]  # mean time of sections inside others, by site
    threads: tuple[int, ...] = ()  # their numbers in the profile


@dataclass(frozen=True)
class Network:
    """All stations and customers."""

    stations: Mapping[int, Station]
    customers: Sequence[Customer]
    cpu_ns: float  # of all threads
    duration_ns: float
    cpus: int

    @property
    def utilisation(self) -> float:
        """The share of the CPUs' time that the threads used."""
        whole = self.cpus * self.duration_ns
        return min(1.0, self.cpu_ns / whole) if whole else 0.0


def network(profile: Profile, kept: frozenset[int]) -> Network:
    """Return the network of a profile; the sites in `kept` are always stations."""
    chosen = [site for site in profile.sites if _counts(site, profile, kept)]
    inside = _inside(profile, {site.number for site in chosen})
    stations = {
        site.number: _station(site, inside[site.number], profile.duration_ns)
        for site in chosen
    }
    return Network(
        stations,
        _customers(profile, chosen, inside),
        float(sum(thread.cpu_ns for thread in profile.threads)),
        float(profile.duration_ns),
        max(1, profile.cpus),
    )


def _counts(site: Site, profile: Profile, kept: frozenset[int]) -> bool:
    if site.kind in (Kind.CONDITION, Kind.BARRIER) or not site.locks:
        return False
    held = max(lock.hold_ns for lock in site.locks)
    return site.number in kept or held >= LEAST_USED * profile.duration_ns


def _handover_ns(site: Site, total: SiteStats, duration_ns: int) -> float:
    """Return the mean time without a holder after a release with waiters.

    A handover ends when a waiter acquires the lock. Other threads may have held it in
    between, so all handovers are limited by the time in which the lock was free.
    """
    mean = total.handover.mean_ns
    if mean is None:
        return 0.0
    busiest = max(site.locks, key=lambda lock: lock.hold_ns)
    if not busiest.contended:
        return mean
    free = max(0, duration_ns - busiest.hold_ns)
    return min(mean, free / busiest.contended)


def _station(site: Site, inner: Mapping[int, float], duration_ns: int) -> Station:
    total = site.total
    weights = tuple(float(lock.acquisitions) for lock in site.locks)
    return Station(
        site.number,
        site.name,
        weights if sum(weights) else (1.0,),
        total.handover if total else NOTHING,
        _handover_ns(site, total, duration_ns) if total else 0.0,
        total.hold if total else NOTHING,
        hold_shares=site.kind is Kind.RWLOCK,
        inner=dict(inner),
    )


def _inside(profile: Profile, chosen: set[int]) -> dict[int, dict[int, float]]:
    """Return the mean number of inner acquisitions in a section: [outer][inner].

    The counts of the lock order are lower bounds, so they only distribute the nested
    acquisitions of a site. Cycles are cut at the rarer direction.
    """
    pairs: Counter[tuple[int, int]] = Counter()
    for edge in profile.lock_order:
        one, other = profile.site_of(edge.outer), profile.site_of(edge.inner)
        if one and other and {one.number, other.number} <= chosen:
            pairs[one.number, other.number] += edge.count
    # All sites nested inside one, directly or not.
    below: dict[int, set[int]] = defaultdict(set)
    accepted: dict[tuple[int, int], int] = {}
    for (outer, inner), count in pairs.most_common():
        if outer == inner or outer in below[inner]:
            continue
        accepted[outer, inner] = count
        for site in [outer, *(key for key, known in below.items() if outer in known)]:
            below[site] |= {inner, *below[inner]}
    totals: Counter[int] = Counter()
    for (_, inner), count in pairs.items():
        totals[inner] += count
    uses = {site.number: site.total for site in profile.sites}
    result: dict[int, dict[int, float]] = {number: {} for number in chosen}
    for (outer, inner), count in accepted.items():
        holder, nested = uses[outer], uses[inner]
        if holder and nested and holder.acquisitions:
            number = nested.nested * count / totals[inner]
            result[outer][inner] = number / holder.acquisitions
    return result


def _customers(
    profile: Profile, chosen: Sequence[Site], inside: Mapping[int, Mapping[int, float]]
) -> list[Customer]:
    by_thread: dict[int, dict[int, Mapping[Operation, SiteStats]]] = defaultdict(dict)
    for site in chosen:
        for number, stats in site.threads.items():
            by_thread[number][site.number] = stats
    known = {thread.number: thread for thread in profile.threads}
    users = [known[number] for number in by_thread if number in known]
    lived = {thread.number: _lived(thread, profile) for thread in users}
    whole = sum(
        profile.duration_ns if _stays(thread, profile) else lived[thread.number]
        for thread in users
    )
    if 0 in by_thread or whole < LONG_LIVED * len(users) * profile.duration_ns:
        return _average(profile, by_thread, users, lived, inside)
    return [
        customer
        for thread in users
        if (
            customer := _customer(
                1,
                lived[thread.number],
                thread.idle_ns,
                by_thread[thread.number],
                inside,
                (thread.number,),
            )
        )
    ]


def _average(
    profile: Profile,
    by_thread: Mapping[int, Mapping[int, Mapping[Operation, SiteStats]]],
    users: Sequence[Thread],
    lived: Mapping[int, float],
    inside: Mapping[int, Mapping[int, float]],
) -> list[Customer]:
    """Return one group of identical threads, if the program's threads come and go."""
    stats: dict[int, dict[Operation, SiteStats]] = defaultdict(dict)
    for sites in by_thread.values():
        for site, operations in sites.items():
            for operation, use in operations.items():
                mine = stats[site]
                mine[operation] = mine[operation] + use if operation in mine else use
    at_once = sum(lived.values()) / max(profile.duration_ns, 1)
    if 0 in by_thread and profile.process_samples:
        seen = [sample.threads for sample in profile.process_samples]
        at_once = max(at_once, sum(seen) / len(seen) - 1)
    population = max(1, round(at_once))
    idle = sum(thread.idle_ns for thread in users)
    numbers = tuple(thread.number for thread in users)
    idle_ns = idle / population
    whole = _customer(population, profile.duration_ns, idle_ns, stats, inside, numbers)
    return [whole] if whole else []


def _lived(thread: Thread, profile: Profile) -> float:
    ended = profile.duration_ns if thread.ended_ns is None else thread.ended_ns
    return max(float(ended - thread.began_ns), 1.0)


def _stays(thread: Thread, profile: Profile) -> bool:
    """Return true if it lived until the end of the run, whenever it began."""
    return thread.ended_ns is None or thread.ended_ns >= END * profile.duration_ns


def _customer(
    population: int,
    lived_ns: float,
    idle_ns: float,
    stats: Mapping[int, Mapping[Operation, SiteStats]],
    inside: Mapping[int, Mapping[int, float]],
    threads: tuple[int, ...],
) -> Customer | None:
    """Return a customer from its operations by site; None if it used no station."""
    uses = {site: _Use(operations, population) for site, operations in stats.items()}
    outer_of: dict[int, float] = defaultdict(float)  # inner acquisitions
    own = {site: use.hold_ns for site, use in uses.items()}
    for outer, inner in ((o, i) for o in uses for i in inside[o] if i in uses):
        number = min(uses[outer].number * inside[outer][inner], uses[inner].number)
        outer_of[inner] += number
        own[outer] -= number * uses[inner].mean_ns
    visits = {}
    for site, use in uses.items():
        number = max(0.0, use.number - outer_of[site])
        hold = max(0.0, own[site]) / use.number if use.number else 0.0
        if number > 1e-3 * use.number:
            wait = use.wait_ns * number / use.number
            visits[site] = Visits(number, hold, wait, use.reads)
    if not visits:
        return None
    inner_hold = {s: max(0.0, own[s]) / u.number for s, u in uses.items() if u.number}
    within = sum(uses[site].mean_ns * one.number for site, one in visits.items())
    outside = max(0.0, lived_ns - within)
    return Customer(
        population,
        lived_ns,
        within,
        outside,
        min(idle_ns, outside),
        visits,
        inner_hold,
        threads,
    )


class _Use:
    """The sums of one customer's operations at one site."""

    def __init__(
        self, operations: Mapping[Operation, SiteStats], population: int
    ) -> None:
        mine = [(key, use) for key, use in operations.items() if key in HOLDING]
        self.number = sum(use.acquisitions for _, use in mine) / population
        self.hold_ns = sum(use.hold.total_ns for _, use in mine) / population
        self.wait_ns = sum(use.wait.total_ns for _, use in mine) / population
        reads = sum(use.acquisitions for key, use in mine if key is Operation.READ)
        self.reads = reads / population / self.number if self.number else 0.0

    @property
    def mean_ns(self) -> float:
        """Mean time of waiting and holding."""
        whole = self.hold_ns + self.wait_ns
        return whole / self.number if self.number else 0.0
