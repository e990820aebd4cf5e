# SPDX-License-Identifier: MIT
"""Find queues between threads: some put items in, others wait for items to take.

In a recording, producers lock the queue's mutex and signal a condition variable on
which they never wait. Consumers wait on it, hardly ever signal it, and acquire the
mutex again after each wait. Each section of a consumer takes an item, so a section of a
producer puts as many as there are sections of consumers for each of producers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hasp.predict.load import LoadSite, Role
from hasp.predict.roles import Group
from hasp.profile.model.kinds import Kind, Operation
from hasp.profile.model.profile import Profile, Site, Thread

LEAST = 100  # waits that a signal ended; fewer may be a start or an end
HARDLY = 0.02  # of the signals by consumers, of the waits that time out
EQUAL = 0.02  # largest difference of two numbers that should be the same, relative


@dataclass(frozen=True)
class Queue:
    """A queue, by the threads of the recording that use it."""

    site: int  # of its mutex
    producers: frozenset[int]
    consumers: frozenset[int]
    items: float  # that a section of a producer puts
    waits: int  # of the consumers
    waited_ns: int  # in these
    takes: float  # share of the consumers' acquisitions that are not the end of a wait


def queues_of(profile: Profile) -> dict[int, Queue]:
    """Return the queues by the sites of their mutexes."""
    found: dict[int, Queue] = {}
    for condition in profile.sites:
        if condition.kind is Kind.CONDITION:
            queue = _queue(profile, condition)
            if queue and queue.site not in found:
                found[queue.site] = queue
    return found


def _queue(profile: Profile, condition: Site) -> Queue | None:
    uses = {
        thread: operations[Operation.WAIT]
        for thread, operations in condition.threads.items()
        if Operation.WAIT in operations
    }
    consumers = frozenset(n for n, use in uses.items() if use.acquisitions)
    producers = frozenset(uses) - consumers
    waits = sum(uses[n].acquisitions for n in consumers)
    signals = sum(use.signals + use.broadcasts for use in uses.values())
    own = sum(uses[n].signals + uses[n].broadcasts for n in consumers)
    woken = sum(uses[n].woken_by_signal or 0 for n in producers)
    timeouts = sum(uses[n].timeouts for n in consumers)
    if (
        0 in uses  # the sums of threads that have ended
        or woken < LEAST
        or own > HARDLY * signals
        or timeouts > HARDLY * waits
    ):
        return None
    mutex = _mutex(profile, consumers, waits)
    if mutex is None:
        return None
    puts = _acquisitions(mutex, producers, Operation.LOCK)
    takes = _acquisitions(mutex, consumers, Operation.LOCK)
    if not puts or not takes:
        return None
    return Queue(
        mutex.number,
        producers,
        consumers,
        takes / puts,
        waits,
        sum(uses[n].wait.total_ns for n in consumers),
        takes / (takes + _acquisitions(mutex, consumers, Operation.RELOCK)),
    )


def _mutex(profile: Profile, consumers: frozenset[int], waits: int) -> Site | None:
    """Return the site of the mutex that the consumers acquire again as often as they
    wait; None if it is another number, or the site has several mutexes."""
    for site in profile.sites:
        again = _acquisitions(site, consumers, Operation.RELOCK)
        if again and abs(again - waits) <= EQUAL * waits and len(site.locks) == 1:
            return site
    return None


def _acquisitions(site: Site, threads: Iterable[int], operation: Operation) -> int:
    uses = [site.threads.get(number, {}).get(operation) for number in threads]
    return sum(use.acquisitions for use in uses if use)


def queueing(
    sites: Sequence[LoadSite],
    roles: Sequence[Role],
    groups: Sequence[Group],
    queues: Mapping[int, Queue],
    profile: Profile,
) -> tuple[tuple[LoadSite, ...], tuple[Role, ...]]:
    """Return the sites and roles with the queues whose threads are in separate roles.

    `groups` are those of the roles. Consumers no longer sleep for the recorded time.
    """
    threads = {thread.number: thread for thread in profile.threads}
    members = [_members(group) for group in groups]
    made = list(roles)
    used: set[int] = set()
    for at, site in enumerate(sites):
        queue = queues.get(site.number)
        if queue is None or not _separate(at, queue, roles, members):
            continue
        trial = [
            _consumer(role, at, queue, group)
            if own <= queue.consumers
            else _producer(role, at, queue, own, threads, profile)
            if own <= queue.producers
            else role
            for role, group, own in zip(made, groups, members, strict=True)
        ]
        if all(role.takes for role in trial):
            continue  # all would wait for others
        made, used = trial, used | {at}
    return (
        tuple(replace(site, queues=at in used) for at, site in enumerate(sites)),
        tuple(made),
    )


def _separate(
    at: int, queue: Queue, roles: Sequence[Role], members: Sequence[frozenset[int]]
) -> bool:
    """Return true if some roles have only producers, some only consumers, none both.

    Consumers wait outside of other sections only.
    """
    takes = [
        own <= queue.consumers and at in dict(role.visits)
        for role, own in zip(roles, members, strict=True)
        if own & queue.consumers
    ]
    puts = [own <= queue.producers for own in members if own & queue.producers]
    return bool(takes and puts) and all(takes + puts)


def _consumer(role: Role, at: int, queue: Queue, group: Group) -> Role:
    """Return a role that waits for items instead of sleeping.

    The end of a wait is not a section of its own.
    """
    share = len(_members(group) & queue.consumers) / len(queue.consumers)
    visits = [(n, part * (queue.takes if n == at else 1.0)) for n, part in role.visits]
    left = sum(part for _, part in visits)
    idle = max(0.0, role.idle_ns - share * queue.waited_ns / group.sections)
    waits = max(0.0, role.waits - share * queue.waits / group.sections)
    return replace(
        role,
        gap_ns=role.gap_ns / left,
        kernel_ns=None if role.kernel_ns is None else role.kernel_ns / left,
        visits=tuple((n, part / left) for n, part in visits),
        rate=role.rate * left,
        idle_ns=idle / left,
        waits=waits / left,
        takes=role.takes | {at},
    )


def _members(group: Group) -> frozenset[int]:
    return frozenset(number for one in group.customers for number in one.threads)


def _producer(
    role: Role,
    at: int,
    queue: Queue,
    own: frozenset[int],
    threads: Mapping[int, Thread],
    profile: Profile,
) -> Role:
    """Return a role that puts items as often as it did while there were consumers.

    Before the first consumer began it cannot have put any.
    """
    first = min(threads[number].began_ns for number in queue.consumers)
    lived = with_consumers = 0.0
    for number in own:
        thread = threads[number]
        ended = profile.duration_ns if thread.ended_ns is None else thread.ended_ns
        lived += ended - thread.began_ns
        with_consumers += max(0, ended - max(first, thread.began_ns))
    period = 1 / role.rate
    shorter = period * (1 - with_consumers / max(lived, 1.0))
    return replace(
        role,
        gap_ns=max(0.0, role.gap_ns - shorter),
        rate=1 / (period - shorter),
        puts=(*role.puts, (at, queue.items)),
    )
