# SPDX-License-Identifier: MIT
"""The topology of a machine file, as of one to measure."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.lab.host.topology import Cpu, Topology
from hasp.lab.simulate.machines.machine import Machine


@dataclass(frozen=True)
class DescribedTopology(Topology):
    """CPUs whose distance has a name in the machine's file."""

    distances: tuple[str, ...] = ()
    between: tuple[tuple[int, ...], ...] = ()
    threads_per_core: int = 1

    def relation(self, first: int, second: int) -> str:
        """The name of their distance."""
        if self.threads_per_core > 1 and self.cpu(first).core == self.cpu(second).core:
            return self.distances[0]
        return self.distances[self.between[self._place(first)][self._place(second)]]

    def relations(self) -> list[str]:
        """The distances that occur, from near to far."""
        found = {
            self.relation(one.number, other.number)
            for one in self.cpus
            for other in self.cpus
            if one != other
        }
        return [name for name in self.distances if name in found]

    def cpu(self, number: int) -> Cpu:
        """The CPU of that number: they are numbered from 0."""
        return self.cpus[number]

    def _place(self, cpu: int) -> int:
        return self.cpus[cpu].package


def topology_of(machine: Machine) -> DescribedTopology:
    """Its places are packages here, which is all that is told apart."""
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
