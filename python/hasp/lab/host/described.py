# SPDX-License-Identifier: MIT
"""Convert the topology of a machine file to the form that the measurement uses."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.lab.host.topology import Cpu, Topology
from hasp.lab.simulate.machines.machine import Machine


@dataclass(frozen=True)
class DescribedTopology(Topology):
    """CPUs whose distances are named in a machine file."""

    distances: tuple[str, ...] = ()
    between: tuple[tuple[int, ...], ...] = ()
    threads_per_core: int = 1

    def relation(self, first: int, second: int) -> str:
        """Return the name of the distance between two CPUs."""
        if self.threads_per_core > 1 and self.cpu(first).core == self.cpu(second).core:
            return self.distances[0]
        return self.distances[self.between[self._place(first)][self._place(second)]]

    def relations(self) -> list[str]:
        """Return the names of all distances in use, nearest first."""
        found = {
            self.relation(one.number, other.number)
            for one in self.cpus
            for other in self.cpus
            if one != other
        }
        return [name for name in self.distances if name in found]

    def cpu(self, number: int) -> Cpu:
        """Return a CPU by its number; numbers start at 0."""
        return self.cpus[number]

    def _place(self, cpu: int) -> int:
        return self.cpus[cpu].package


def topology_of(machine: Machine) -> DescribedTopology:
    """Return the topology of a machine; each of its dies counts as a package."""
    places = machine.topology
    cpus = tuple(
        Cpu(
            number,
            number // places.threads_per_core,
            places.place_of(number),
            places.numa_node_of(places.place_of(number)),
        )
        for number in range(places.cpus)
    )
    return DescribedTopology(
        cpus,
        places.numa_nodes,
        distances=places.expanded,
        between=places.between_places,
        threads_per_core=places.threads_per_core,
    )
