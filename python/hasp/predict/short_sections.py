# SPDX-License-Identifier: MIT
"""Shorten hold times that do not fit into the life of a thread.

Few sections are timed, and timing slows them down by some ten nanoseconds: the code
and the data of the recorder are not in the caches. The number of sections and the life
of a thread are exact. So if a thread would hold locks for so long that it had no time
left to take and release them, every section was shorter, by the same time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hasp.predict.roles import sections_of
from hasp.profile.diagnosis.what_if.network import Customer, Visits


def fitted(customer: Customer, recording_ns: float, pair_ns: float) -> Customer:
    """Return the customer with hold times that leave time for its locks.

    Each of its threads spent `recording_ns` on recording; a lock and unlock takes
    `pair_ns`.
    """
    free = customer.lived_ns - customer.locked_ns - customer.idle_ns - recording_ns
    short = pair_ns * sections_of(customer) - free
    if short <= 0:
        return customer
    less = _less(customer.visits.values(), short)
    visits = {
        site: replace(visit, hold_ns=max(0.0, visit.hold_ns - less))
        for site, visit in customer.visits.items()
    }
    holds = {
        site: max(0.0, ns - less) if site in visits else ns
        for site, ns in customer.inner_hold_ns.items()
    }
    spared = sum(
        visit.number * min(visit.hold_ns, less) for visit in customer.visits.values()
    )
    locked = customer.locked_ns - spared
    return replace(
        customer,
        locked_ns=locked,
        outside_ns=max(0.0, customer.lived_ns - locked),
        visits=visits,
        inner_hold_ns=holds,
    )


def _less(visits: Iterable[Visits], short: float) -> float:
    """Return by how much to shorten each section, so that all are `short` shorter.

    None becomes shorter than nothing.
    """
    ordered = sorted(visits, key=lambda visit: visit.hold_ns)
    left, less = sum(visit.number for visit in ordered), 0.0
    for visit in ordered:
        step = (visit.hold_ns - less) * left
        if step >= short:
            return less + short / left
        short -= step
        less = visit.hold_ns
        left -= visit.number
    return less
