# SPDX-License-Identifier: MIT
"""How much of what threads compute is in the kernel.

The recorder stores the CPU time of each thread in user mode and in the kernel. Most
kernels estimate the two by looking at each tick which of them a CPU is in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hasp.predict.changes import visits_per_section
from hasp.predict.load import Load, Role
from hasp.predict.roles import Group
from hasp.profile.diagnosis.what_if.network import Customer
from hasp.profile.model.profile import Thread


def kernel_ns(
    group: Group,
    times: Sequence[float],
    factors: Sequence[float],
    threads: Mapping[int, Thread],
) -> float | None:
    """Return the time in the kernel of all threads of a group, while they compute.

    `times` has, for each customer, the time outside of sections in which its threads
    computed. `factors` says how much longer times were because a CPU was missing. None
    if the trace does not tell.
    """
    found = 0.0
    for one, outside, factor in zip(group.customers, times, factors, strict=True):
        own = [threads[number] for number in one.threads if number in threads]
        if not own or any(thread.system_ns is None for thread in own):
            return None
        computed = outside + _recorded_holds_ns(one, own) / factor
        user = sum((thread.user_ns or 0) - thread.overhead_ns for thread in own)
        system = sum(thread.system_ns or 0 for thread in own)
        # Going to sleep and waking up also take time in the kernel. It is part of the
        # wait, so only as much counts as the computed time leaves beside user mode.
        found += min(system, max(0.0, computed - max(user, 0)))
    return found


def _recorded_holds_ns(customer: Customer, own: Sequence[Thread]) -> float:
    """Return how long a customer's threads held locks without waiting for others."""
    locked = customer.population * customer.locked_ns
    return max(0.0, locked - sum(thread.wait_ns for thread in own))


def kernel_share(load: Load) -> float | None:
    """Return the kernel's share of the time that the threads which scale compute.

    That of a load as recorded; None if the trace does not tell.
    """
    roles = [role for role in load.roles if role.scales]
    kernel = computed = 0.0
    for role in roles:
        if role.kernel_ns is None:
            return None
        weight = role.recorded * role.rate
        kernel += weight * min(role.kernel_ns, computing_ns(load, role))
        computed += weight * computing_ns(load, role)
    return kernel / computed if computed else 0.0


def computing_ns(load: Load, role: Role) -> float:
    """Return how long a thread computes from one outermost section to the next."""
    return role.gap_ns + sum(held_ns(load, role))


def held_ns(load: Load, role: Role) -> list[float]:
    """Return how long a thread holds the locks of each site in an outermost section."""
    numbers = visits_per_section(load, role)
    return [n * ns for n, ns in zip(numbers, role.holds_ns, strict=True)]
