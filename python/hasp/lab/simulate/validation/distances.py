# SPDX-License-Identifier: MIT
"""The machines of SSYNC, and CPUs at given distances."""

from __future__ import annotations

from collections.abc import Iterator

from hasp.lab.simulate.machines.topology import Topology

OPTERON, XEON = "opteron-48", "xeon-80"
NIAGARA, TILERA = "niagara-64", "tilera-36"
MULTI_SOCKETS, SINGLE_SOCKETS = (OPTERON, XEON), (NIAGARA, TILERA)
ALL = (*MULTI_SOCKETS, *SINGLE_SOCKETS)

# CPUs per socket, and in total. Each die of SSYNC's Opteron counts as a socket.
SOCKET = {OPTERON: 6, XEON: 10}
FULL = {OPTERON: 48, XEON: 80, NIAGARA: 64, TILERA: 36}


def short_name(machine: str) -> str:
    """Return the machine's name in the id of a claim: `opteron` for opteron-48."""
    return machine.partition("-")[0]


def distance(topology: Topology, one: int, other: int) -> int:
    """The index of the distance between two CPUs."""
    if topology.threads_per_core > 1 and (
        one // topology.threads_per_core == other // topology.threads_per_core
    ):
        return 0
    return topology.between_places[topology.place_of(one)][topology.place_of(other)]


def number_of(topology: Topology, name: str) -> int:
    """The index of a distance, given its name in the machine file."""
    if not topology.hops:
        return topology.distances.index(name)
    hops = {"one_hop": 1, "max_hops": topology.hops}
    return topology.expanded.index(f"{hops[name]}_hops")


def at_distance(topology: Topology, name: str) -> tuple[int, int, int]:
    """Return a measuring CPU, one at that distance, and one close to the latter.

    The third CPU is also at that distance if possible. Raises
    ValueError if no two CPUs are at that distance.
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
    """For each distance between different CPUs, two CPUs at that distance."""
    found: dict[str, tuple[int, int]] = {}
    for cpu in range(1, topology.cpus):
        found.setdefault(topology.expanded[distance(topology, 0, cpu)], (0, cpu))
    return found
