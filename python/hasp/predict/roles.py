# SPDX-License-Identifier: MIT
"""Group the threads of a recording by what they do with the locks."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hasp.predict.idling import Idling, wait_alike
from hasp.profile.diagnosis.what_if.network import Customer
from hasp.profile.model.profile import Profile, Thread

ALIKE = 0.9  # cosine of the angle between two threads' acquisitions by site
RATES = 4.0  # largest ratio of the acquisitions of two threads in one role
LEAST_SHARE = 0.002  # of all sections; threads with fewer are left out


@dataclass
class Group:
    """Customers with the same work."""

    name: str
    customers: list[Customer] = field(default_factory=list)

    @property
    def population(self) -> int:
        """The number of threads."""
        return sum(one.population for one in self.customers)

    @property
    def sections(self) -> float:
        """The outermost sections of all threads."""
        return sum(one.population * sections_of(one) for one in self.customers)


def sections_of(customer: Customer) -> float:
    """Return the outermost sections of one thread."""
    return sum(visit.number for visit in customer.visits.values())


def groups(
    profile: Profile, customers: Sequence[Customer], idling: Mapping[int, Idling]
) -> list[Group]:
    """Return the groups, the one with most sections first; rare users are left out."""
    threads = {thread.number: thread for thread in profile.threads}
    found: list[Group] = []
    for customer in customers:
        name = _name(customer, threads)
        for group in found:
            first = group.customers[0]
            if (
                group.name == name
                and _alike(first, customer)
                and wait_alike(first, customer, idling)
            ):
                group.customers.append(customer)
                break
        else:
            found.append(Group(name, [customer]))
    whole = sum(group.sections for group in found)
    kept = [group for group in found if group.sections >= LEAST_SHARE * whole]
    return sorted(kept, key=lambda group: -group.sections)


def scaling(found: Sequence[Group], profile: Profile) -> list[bool]:
    """Return which groups grow with the number of threads.

    Those with several threads do. If there are none, the one with most sections does,
    except the main thread's: a program has only one. It is chosen if it is alone.
    """
    several = [group.population > 1 for group in found]
    if any(several):
        return several
    main = {thread.number for thread in profile.threads if thread.tid == profile.pid}
    chosen = next(
        (one for one in found if main.isdisjoint(one.customers[0].threads)), found[0]
    )
    return [one is chosen for one in found]


def _name(customer: Customer, threads: Mapping[int, Thread]) -> str:
    """Return the name of its thread without a number; names of pools end with one."""
    if len(customer.threads) != 1:
        return ""
    return re.sub(r"[\W_]*\d+$", "", threads[customer.threads[0]].name)


def _alike(one: Customer, other: Customer) -> bool:
    rates = [_rates(one), _rates(other)]
    first, second = (sum(each.values()) for each in rates)
    if max(first, second) > RATES * min(first, second):
        return False
    product = sum(rate * rates[1].get(site, 0.0) for site, rate in rates[0].items())
    lengths = [math.sqrt(sum(x * x for x in each.values())) for each in rates]
    return product >= ALIKE * lengths[0] * lengths[1]


def _rates(customer: Customer) -> dict[int, float]:
    """Return its outermost sections per ns by site."""
    rates: dict[int, float] = defaultdict(float)
    for site, visit in customer.visits.items():
        rates[site] += visit.number / max(customer.lived_ns, 1.0)
    return rates


def absent_ns(customer: Customer, threads: Mapping[int, Thread]) -> float:
    """Return the time of its threads without a CPU, waits for locks and idling aside.

    Such a thread has lost its CPU, or it waits in the kernel: for I/O or for requests.
    """
    own = [threads[number] for number in customer.threads if number in threads]
    lived = customer.population * customer.lived_ns
    idle = customer.population * customer.idle_ns
    known = sum(thread.wait_ns + thread.cpu_ns for thread in own)
    return max(0.0, lived - idle - known)


def sleeps_of(customer: Customer, threads: Mapping[int, Thread]) -> float:
    """Return how often each of its threads gave up its CPU by its own will."""
    own = [threads[number] for number in customer.threads if number in threads]
    return sum(thread.voluntary for thread in own) / customer.population


def lost_ns(customer: Customer, threads: Mapping[int, Thread]) -> float:
    """Return the time for which its threads had lost their CPU to others.

    A thread that neither waits for a lock nor idles runs, or sleeps by its own will, or
    has lost its CPU. Its context switches tell the last two apart.
    """
    own = [threads[number] for number in customer.threads if number in threads]
    involuntary = sum(thread.involuntary for thread in own)
    switches = involuntary + sum(thread.voluntary for thread in own)
    if not sum(thread.cpu_ns for thread in own) or not switches:
        return 0.0
    return absent_ns(customer, threads) * involuntary / switches


def slept_ns(customer: Customer, threads: Mapping[int, Thread]) -> float:
    """Return how long each of its threads slept in the kernel outside of sections.

    That is for I/O, for requests or for a time; as much of it as fits into sections may
    have been there. Waits on condition variables and for locks do not count.
    """
    if not sleeps_of(customer, threads):
        return 0.0
    absent = absent_ns(customer, threads) - lost_ns(customer, threads)
    return max(0.0, absent / customer.population - customer.locked_ns)


def preempted_factor(customer: Customer, threads: Mapping[int, Thread]) -> float:
    """Return how much longer its times were because it had no CPU, at least 1."""
    own = [threads[number] for number in customer.threads if number in threads]
    lost = lost_ns(customer, threads)
    resting = customer.idle_ns + slept_ns(customer, threads)
    busy = customer.population * (customer.lived_ns - resting)
    busy = max(busy - sum(thread.wait_ns for thread in own), 1.0)
    return busy / max(busy - lost, 0.05 * busy)
