# SPDX-License-Identifier: MIT
"""Placement of threads on the CPUs of a simulated machine."""

from __future__ import annotations

import random

from hasp.base.errors import HaspError
from hasp.lab.simulate.machines.machine import Machine

DEFAULT = "default"
FILL, SPREAD, RANDOM = "fill", "spread", "random"
PLACEMENTS = {
    FILL: "core after core, place (die, tile or chip) after place",
    SPREAD: "alternate between places",
    RANDOM: "random for each seed",
}


def cpus(machine: Machine, threads: int, placement: str, seed: int) -> list[int]:
    """Return the CPU of each thread. Raises HaspError if the machine has too few."""
    topology = machine.topology
    if threads > topology.cpus:
        raise HaspError(
            f"{machine.name} has {topology.cpus} CPUs, too few for {threads} threads",
            "use fewer, or `--workload oversubscribed`, where threads share CPUs",
        )
    everywhere = range(topology.cpus)
    if placement == DEFAULT:
        placement = topology.placement
    if placement == RANDOM:
        return random.Random(seed).sample(everywhere, threads)
    if placement == SPREAD:
        per_core, per_place = topology.threads_per_core, topology.cpus_per_place

        def key(cpu: int) -> tuple[int, int, int]:
            within = cpu % per_place
            return within % per_core, within // per_core, cpu // per_place

        return sorted(everywhere, key=key)[:threads]
    return list(everywhere[:threads])
