# SPDX-License-Identifier: MIT
"""Selects the CPUs to measure together: all pairs once, and a few in every case."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.lab.host.topology import Topology

MOST_PAIRS = 8192  # in a heat map; with more, only a sample of the CPUs
MOST_SHARERS = 64


@dataclass(frozen=True)
class Cast:
    """The CPUs of one series: the measuring one, the line's holder, and a sharer."""

    cpu: int
    holder: int
    sharer: int | None  # None: there is no third CPU
    relation: str  # of cpu and holder


def casts(topology: Topology) -> list[Cast]:
    """Return the first pair of CPUs for each relation, in the order of relations.

    If there is only one relation, its pair is returned in both directions.
    """
    numbers = [cpu.number for cpu in topology.cpus]
    found: dict[str, Cast] = {}
    wanted = len(topology.relations())
    for cpu in numbers:
        for holder in numbers:
            if cpu == holder:
                continue
            relation = topology.relation(cpu, holder)
            if relation not in found:
                sharer = third(topology, cpu, holder)
                found[relation] = Cast(cpu, holder, sharer, relation)
        if len(found) == wanted:
            break
    order = topology.relations()
    result = sorted(found.values(), key=lambda cast: order.index(cast.relation))
    if len(result) == 1:
        (cast,) = result
        result.append(Cast(cast.holder, cast.cpu, cast.sharer, cast.relation))
    return result


def third(topology: Topology, cpu: int, holder: int) -> int | None:
    """Return the CPU that shares the line with its holder; None if there is no third.

    It is on another core if possible, because threads of a core share one copy; as far
    from `cpu` as the holder is, and as close to the holder as possible.
    """
    cores = {topology.cpu(cpu).core, topology.cpu(holder).core}
    wanted = topology.relation(cpu, holder)
    order = topology.relations()
    others = [
        other.number for other in topology.cpus if other.number not in (cpu, holder)
    ]
    if not others:
        return None
    return min(
        others,
        key=lambda other: (
            topology.cpu(other).core in cores,
            topology.relation(cpu, other) != wanted,
            order.index(topology.relation(holder, other)),
            other,
        ),
    )


def pairs(topology: Topology) -> dict[int, list[int]]:
    """Return, for each holder of a line, the CPUs that fetch it: every pair once."""
    numbers = [cpu.number for cpu in topology.cpus]
    step = 1
    while (len(numbers) // step) ** 2 // 2 > MOST_PAIRS:
        step += 1
    numbers = numbers[::step]
    return {
        holder: numbers[index + 1 :]
        for index, holder in enumerate(numbers)
        if numbers[index + 1 :]
    }


def crowds(topology: Topology, cpu: int) -> list[list[int]]:
    """Return groups of CPUs that share a line, of sizes 2, 4, 8 ... all."""
    others = [other.number for other in topology.cpus if other.number != cpu]
    others = others[:MOST_SHARERS]
    counts = []
    count = 2
    while count < len(others):
        counts.append(count)
        count *= 2
    if len(others) >= 2:
        counts.append(len(others))
    return [others[:count] for count in counts]


def crews(topology: Topology) -> list[list[int]]:
    """Return groups of contending CPUs, filled socket by socket.

    Sizes are 1 to 8, then grow by half.
    """
    ordered = sorted(
        topology.cpus, key=lambda cpu: (cpu.package, cpu.node, cpu.core, cpu.number)
    )
    numbers = [cpu.number for cpu in ordered]
    counts = [count for count in range(1, 9) if count <= len(numbers)]
    count = 8
    while count * 3 // 2 < len(numbers):
        count = count * 3 // 2
        counts.append(count)
    if len(numbers) not in counts:
        counts.append(len(numbers))
    return [numbers[:count] for count in counts]
