# SPDX-License-Identifier: MIT
"""How often, and where, threads wait for work: on condition variables and barriers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from hasp.profile.diagnosis.what_if.network import Customer
from hasp.profile.model.kinds import Operation
from hasp.profile.model.profile import Profile

WAITING = (Operation.WAIT, Operation.BARRIER)
WAITS, HARDLY = 0.1, 0.01  # shares of a thread's life


@dataclass
class Idling:
    """The waits of one thread."""

    number: int = 0
    by_site: Counter[int] = field(default_factory=Counter)  # ns


def idling_of(profile: Profile) -> dict[int, Idling]:
    """Return the waits by thread number; threads that never wait are missing."""
    found: dict[int, Idling] = defaultdict(Idling)
    for site in profile.sites:
        for thread, operations in site.threads.items():
            for operation in WAITING:
                if operation in operations:
                    use = operations[operation]
                    found[thread].number += use.acquisitions
                    found[thread].by_site[site.number] += use.wait.total_ns
    return dict(found)


def waits_of(customer: Customer, idling: Mapping[int, Idling]) -> float:
    """Return the number of waits of each of a customer's threads."""
    own = [idling[number].number for number in customer.threads if number in idling]
    return sum(own) / customer.population


def wait_alike(one: Customer, other: Customer, idling: Mapping[int, Idling]) -> bool:
    """Return false if only one of them waits for work, or they do so elsewhere."""
    shares = [each.idle_ns / max(each.lived_ns, 1.0) for each in (one, other)]
    if max(shares) < WAITS:
        return True
    if min(shares) < HARDLY:
        return False
    first, second = _main_site(one, idling), _main_site(other, idling)
    return min(shares) < WAITS or first == second


def _main_site(customer: Customer, idling: Mapping[int, Idling]) -> int | None:
    waited: Counter[int] = Counter()
    for number in customer.threads:
        if number in idling:
            waited.update(idling[number].by_site)
    return max(waited, key=waited.__getitem__) if waited else None
