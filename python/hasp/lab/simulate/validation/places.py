# SPDX-License-Identifier: MIT
"""Which CPUs of a machine are how far apart."""

from __future__ import annotations

from collections.abc import Iterator

from hasp.lab.simulate.machines.topology import Topology

OPTERON, XEON = "opteron-48", "xeon-80"
NIAGARA, TILERA = "niagara-64", "tilera-36"
MULTI_SOCKETS, SINGLE_SOCKETS = (OPTERON, XEON), (NIAGARA, TILERA)
ALL = (*MULTI_SOCKETS, *SINGLE_SOCKETS)

# CPUs of a socket, and of all of the machine; SSYNC's Opteron has two dies a socket.
SOCKET = {OPTERON: 6, XEON: 10}
FULL = {OPTERON: 48, XEON: 80, NIAGARA: 64, TILERA: 36}


def distance(topology: Topology, one: int, other: int) -> int:
    """The number of the distance between two CPUs."""
    if topology.threads_per_core > 1 and (
        one // topology.threads_per_core == other // topology.threads_per_core
    ):
        return 0
    return topology.between_places[topology.place_of(one)][topology.place_of(other)]


def number_of(topology: Topology, name: str) -> int:
    """The expanded distance that a name of the machine's file means."""
    if not topology.hops:
        return topology.distances.index(name)
    hops = {"one_hop": 1, "max_hops": topology.hops}
    return topology.expanded.index(f"{hops[name]}_hops")


def at_distance(topology: Topology, name: str) -> tuple[int, int, int]:
    """A CPU that measures, one so far away from it, and another one beside that.

    That one is equally far away, unless only one is, as at the corner of a mesh.
    """
    wanted = number_of(topology, name)
    for measurer in range(topology.cpus):
        far = [
            cpu
            for cpu in range(topology.cpus)
            if cpu != measurer and distance(topology, measurer, cpu) == wanted
        ]
        if far:
            others = [cpu for cpu in _nearest(topology, far[0]) if cpu != measurer]
            beside = [cpu for cpu in others if cpu in far] or others
            return measurer, far[0], beside[0]
    raise ValueError(name)


def _nearest(topology: Topology, holder: int) -> Iterator[int]:
    others = [cpu for cpu in range(topology.cpus) if cpu != holder]
    yield from sorted(others, key=lambda cpu: (distance(topology, holder, cpu), cpu))


def pairs(topology: Topology) -> dict[str, tuple[int, int]]:
    """For each distance between different CPUs, two that are so far apart."""
    found: dict[str, tuple[int, int]] = {}
    for cpu in range(1, topology.cpus):
        found.setdefault(topology.expanded[distance(topology, 0, cpu)], (0, cpu))
    return found
