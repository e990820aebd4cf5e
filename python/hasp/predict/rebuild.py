# SPDX-License-Identifier: MIT
"""Rebuild the load of a program from its profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hasp.base.errors import HaspError
from hasp.predict.gaps import gaps_of
from hasp.predict.idling import Idling, idling_of, waits_of
from hasp.predict.kernel_time import kernel_ns
from hasp.predict.load import (
    Load,
    LoadSite,
    Role,
    weights_of,
)
from hasp.predict.meeting import meeting_role, meeting_sites, meetings_of
from hasp.predict.queues import queueing, queues_of
from hasp.predict.roles import (
    Group,
    absent_ns,
    groups,
    preempted_factor,
    scaling,
    sleeps_of,
    slept_ns,
)
from hasp.predict.shapes import shape_of
from hasp.predict.short_sections import fitted
from hasp.profile.diagnosis.what_if.network import Customer, Network, Station, network
from hasp.profile.model.profile import Profile, Site, Thread

LEAST_HELD = 0.02  # of the time at the largest number of threads
LEAST_RAN = 0.1  # of all threads' time on a CPU, by a thread that matters
LOCKS_MOST = 65536
OFTEN = 0.1  # least acquisitions of a thread, of those of the thread with most
PRIVATE = 0.01  # most changes of the owner per acquisition of a thread's own lock
RECORD = "record the program under load: hasp profile -- COMMAND"


def rebuild(
    profile: Profile, most: int, busy: bool = False, kept: frozenset[int] = frozenset()
) -> Load:
    """Return the load of a profile, with every site that matters to `most` threads.

    The sites in `kept` are always included. With `busy`, threads never wait for work,
    neither on condition variables nor in the kernel.
    Raises HaspError if the profile lacks what is needed.
    """
    net = network(profile, kept | _candidates(profile, most, busy))
    idling = idling_of(profile)
    found = groups(profile, net.customers, idling)
    if not found or not net.stations:
        raise HaspError(
            f"{profile.program}: no lock was held for a time that matters to "
            f"{most} threads, so no lock limits it",
            f"if you expected one, {RECORD}",
        )
    order = _order(net)
    _refuse_unmeasured(profile, order)
    threads = {thread.number: thread for thread in profile.threads}
    found = [
        replace(
            group, customers=[_fitted(one, threads, profile) for one in group.customers]
        )
        for group in found
    ]
    factors = [
        [preempted_factor(one, threads) for one in group.customers] for group in found
    ]
    roles = [
        _idle(
            replace(
                _role(group, scales, order, own, threads, busy),
                gaps=gaps_of(group, profile, idling),
            ),
            group,
            idling,
            threads,
            busy,
        )
        for group, scales, own in zip(
            found, scaling(found, profile), factors, strict=True
        )
    ]
    pairs = sorted(zip(roles, found, strict=True), key=lambda pair: not pair[0].scales)
    roles, found = [role for role, _ in pairs], [group for _, group in pairs]
    sites = tuple(_site(profile, net, order, roles, number) for number in order)
    meetings = meetings_of(profile)
    sites = meeting_sites(sites, meetings)
    roles = [meeting_role(role, order, meetings) for role in roles]
    queues = {} if busy else queues_of(profile)
    return Load(*queueing(sites, roles, found, queues, profile))


def _candidates(profile: Profile, most: int, busy: bool) -> frozenset[int]:
    """Return the sites that would be held long if all of `most` threads used them.

    That is so of those that the program holds long, and of those that one thread holds
    long in the time in which it does not wait for work.
    """
    threads = max(1, len(profile.threads) // 2)
    least = LEAST_HELD * profile.duration_ns * threads / max(most, 1)
    active = _active(profile, busy)
    return frozenset(
        site.number
        for site in profile.sites
        if site.locks
        and (
            max(lock.hold_ns for lock in site.locks) >= least
            or most * _largest_share(site, active) >= LEAST_HELD
        )
    )


def _active(profile: Profile, busy: bool) -> dict[int, float]:
    """Return the time of the threads that matter without their waits for work.

    With `busy`, it is that on a CPU. Threads that hardly run are missing, and the main
    thread, of which a program has only one, unless it is alone.
    """
    ran = sum(thread.cpu_ns for thread in profile.threads)
    running = [one for one in profile.threads if one.cpu_ns >= LEAST_RAN * ran]
    others = [thread for thread in running if thread.tid != profile.pid]
    found = {}
    for thread in others or running:
        ended = profile.duration_ns if thread.ended_ns is None else thread.ended_ns
        lived = float(ended - thread.began_ns - thread.idle_ns)
        found[thread.number] = max(1.0, thread.cpu_ns if busy else lived)
    return found


def _largest_share(site: Site, active: Mapping[int, float]) -> float:
    """Return the largest share of a thread's time that it holds the busiest lock."""
    whole = sum(lock.hold_ns for lock in site.locks)
    busiest = max(lock.hold_ns for lock in site.locks) / max(whole, 1)
    shares = [
        sum(use.hold.total_ns for use in operations.values()) / active[number]
        for number, operations in site.threads.items()
        if number in active
    ]
    return busiest * max(shares, default=0.0)


def _refuse_unmeasured(profile: Profile, order: Sequence[int]) -> None:
    for site in profile.sites:
        total = site.total
        if site.number not in order or not total or not total.acquisitions:
            continue
        if not total.hold.mean_ns:
            raise HaspError(
                f"{site.name}: the trace has no hold times of this lock",
                f"too few of its sections were timed; {RECORD}",
            )


def _order(net: Network) -> list[int]:
    """Return the sites with outer ones before inner ones."""
    placed: list[int] = []

    def place(number: int) -> None:
        if number in placed:
            return
        for inner in net.stations[number].inner:
            if inner in net.stations:
                place(inner)
        placed.append(number)

    for number in net.stations:
        place(number)
    return placed[::-1]


def _role(
    group: Group,
    scales: bool,
    order: Sequence[int],
    factors: Sequence[float],
    threads: Mapping[int, Thread],
    busy: bool,
) -> Role:
    pairs = list(zip(group.customers, factors, strict=True))
    sections = group.sections
    gaps: list[float] = []
    numbers: dict[int, float] = {}
    held: dict[int, list[float]] = {}  # sum of weighted times, sum of weights
    reads: dict[int, float] = {}
    for one, factor in pairs:
        rested = _waited_ns(one) if busy else _rested_ns(one, threads)
        work = one.population * (one.outside_ns - rested - _recording(one, threads))
        gaps.append(max(0.0, work - absent_ns(one, threads) if busy else work / factor))
        for site, visit in one.visits.items():
            number = one.population * visit.number
            numbers[site] = numbers.get(site, 0.0) + number
            reads[site] = reads.get(site, 0.0) + number * visit.reads
        for site, ns in one.inner_hold_ns.items():
            weight = one.population * (
                one.visits[site].number if site in one.visits else 1
            )
            sums = held.setdefault(site, [0.0, 0.0])
            sums[0] += weight * ns / factor
            sums[1] += weight
    # The recorded rate is that of threads with a CPU and without a recorder, too.
    lived = sum(
        one.population * _lived_ns(one, factor, threads) for one, factor in pairs
    )
    kernel = kernel_ns(group, gaps, factors, threads)
    return Role(
        group.name,
        group.population,
        scales,
        sum(gaps) / sections,
        tuple((order.index(s), n / sections) for s, n in sorted(numbers.items())),
        tuple(_mean(held.get(number)) for number in order),
        tuple(reads.get(n, 0.0) / numbers[n] if n in numbers else 0.0 for n in order),
        sections / lived,
        sum(one.population / factor for one, factor in pairs) / group.population,
        kernel_ns=None if kernel is None else kernel / sections,
    )


def _idle(
    role: Role,
    group: Group,
    idling: Mapping[int, Idling],
    threads: Mapping[int, Thread],
    busy: bool,
) -> Role:
    """Return the role with its waits for work; with `busy` there are none."""
    if busy:
        return role
    idle = waits = 0.0
    for one in group.customers:
        idle += one.population * _rested_ns(one, threads)
        in_kernel = sleeps_of(one, threads) if slept_ns(one, threads) else 0.0
        waits += one.population * max(waits_of(one, idling), in_kernel)
    sections = group.sections
    return replace(role, idle_ns=idle / sections, waits=waits / sections)


def _recording(customer: Customer, threads: Mapping[int, Thread]) -> float:
    """Return the time that each of the threads spent on recording."""
    own = [threads[number] for number in customer.threads if number in threads]
    return sum(thread.overhead_ns for thread in own) / customer.population


def _fitted(
    customer: Customer, threads: Mapping[int, Thread], profile: Profile
) -> Customer:
    recording = _recording(customer, threads)
    return fitted(customer, recording, profile.overhead.pair_ns)


def _lived_ns(
    customer: Customer, factor: float, threads: Mapping[int, Thread]
) -> float:
    """Return the time that a thread would have taken with a CPU of its own."""
    rested = _rested_ns(customer, threads)
    ran = customer.lived_ns - rested - _recording(customer, threads)
    return rested + max(1.0, ran) / factor


def _waited_ns(customer: Customer) -> float:
    """Return how long each thread waited for work outside of sections."""
    return min(customer.idle_ns, customer.outside_ns)


def _rested_ns(customer: Customer, threads: Mapping[int, Thread]) -> float:
    """Return the same with its sleep in the kernel."""
    rested = customer.idle_ns + slept_ns(customer, threads)
    return min(rested, customer.outside_ns)


def _mean(sums: Sequence[float] | None) -> float:
    return sums[0] / sums[1] if sums and sums[1] else 0.0


def _site(
    profile: Profile,
    net: Network,
    order: Sequence[int],
    roles: Sequence[Role],
    number: int,
) -> LoadSite:
    station = net.stations[number]
    recorded = next(site for site in profile.sites if site.number == number)
    counts = [lock.acquisitions for lock in recorded.locks][:LOCKS_MOST] or [1]
    own = _is_own(recorded, sum(role.recorded for role in roles if role.scales))
    weights, tail = ([1], 0) if own else weights_of(counts)
    index = order.index(number)
    holds = [(role.recorded, role.holds_ns[index]) for role in roles if role.scales]
    whole = sum(threads for threads, _ in holds)
    total = recorded.total
    return LoadSite(
        number,
        recorded.name,
        station.hold_shares,
        1 if own else len(counts),
        tuple(weights),
        tail,
        shape_of(station.hold),
        sum(threads * ns for threads, ns in holds) / whole if whole else 0.0,
        _inner(station, order),
        own,
        total.cache_misses if total else None,
    )


def _inner(station: Station, order: Sequence[int]) -> tuple[tuple[int, float], ...]:
    pairs = [
        (order.index(number), times)
        for number, times in station.inner.items()
        if number in order and times >= 5e-4
    ]
    return tuple(sorted(pairs))


def _is_own(site: Site, workers: int) -> bool:
    """Return true if each thread has a lock of its own, by the changes of owners."""
    total = site.total
    # The statistics of ended threads are added up as those of thread 0.
    users = workers if 0 in site.threads else _users(site)
    if users < 2 or len(site.locks) < users or total is None:
        return False
    return total.owner_changes <= PRIVATE * total.acquisitions


def _users(site: Site) -> int:
    """Return the number of threads that acquire the locks of a site often.

    Where one thread makes nearly all acquisitions, owners hardly change anyway.
    """
    numbers = [
        sum(use.acquisitions for use in operations.values())
        for operations in site.threads.values()
    ]
    return sum(number >= OFTEN * max(numbers) for number in numbers)
