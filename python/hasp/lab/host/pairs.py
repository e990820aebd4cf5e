# SPDX-License-Identifier: MIT
"""Which CPUs are measured with which: all pairs once, and some pairs in every case."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.lab.host.topology import Topology

MOST_PAIRS = 8192  # that a heat map is made of; beyond that, a sample of the CPUs
MOST_SHARERS = 64


@dataclass(frozen=True)
class Cast:
    """The CPUs of one series of cases: who measures, who holds the line, who shares."""

    cpu: int
    holder: int
    sharer: int | None  # None: there is no third CPU
    relation: str  # of cpu and holder


def casts(topology: Topology) -> list[Cast]:
    """For each way in which two CPUs are related, the first such pair, both ways round
    if there is only one way."""
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
    """Who shares the line with its holder: one of another core, since the threads of a
    core have one copy together; as far from who measures as the holder is, and as near
    to the holder as can be."""
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
    """For each CPU that holds a line, those that fetch it: every pair once."""
    numbers = [cpu.number for cpu in topology.cpus]
    step = 1
    while (len(numbers) // step) ** 2 // 2 > MOST_PAIRS:
        step += 1
    numbers = numbers[::step]
    return {
        holder: numbers[place + 1 :]
        for place, holder in enumerate(numbers)
        if numbers[place + 1 :]
    }


def crowds(topology: Topology, cpu: int) -> list[list[int]]:
    """CPUs that share a line with each other, in growing numbers: 2, 4, 8 .. all."""
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
    """CPUs that contend: 1, 2, 3 .. 8, then in larger steps, socket by socket."""
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
