# SPDX-License-Identifier: MIT
"""Writes a machine in the simulator's format: `key value...` lines of integers.

src/simulator/machine.h describes the keys.
"""

from __future__ import annotations

from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.machines.schema import COHORTS, OPERATIONS, STATES, TRANSACTIONS


def flatten(machine: Machine) -> str:
    """Return the text of the flattened file."""
    places = machine.topology
    lines = [
        f"name {machine.name}",
        f"clock_khz {machine.mhz * 1000}",
        f"cpus {places.cpus}",
        f"threads_per_core {places.threads_per_core}",
        f"places {places.places}",
        _line("place_of_cpu", [places.place_of(cpu) for cpu in range(places.cpus)]),
        f"nodes {places.numa_nodes}",
        _line(
            "node_of_place",
            [places.numa_node_of(index) for index in range(places.places)],
        ),
        f"cohorts {COHORTS.index(places.cohorts)}",
        _line("distance_names", places.expanded),
    ]
    for index, row in enumerate(places.between_places):
        lines.append(_line(f"between_places {index}", row))
    lines.append(f"protocol {machine.protocol}")
    for operation in OPERATIONS:
        for state in STATES:
            cells = places.expand(machine.latencies[operation, state])
            lines.append(_line(f"latency {operation} {state}", cells))
    lines += [f"{key} {value}" for key, value in _figures(machine).items()]
    lines += [
        f"wakeup {one.idle_us * machine.mhz} {one.futex_wake} {one.waking}"
        for one in machine.wakeups
    ]
    return "\n".join(lines) + "\n"


def _line(key: str, values: list[int] | tuple[int | str, ...]) -> str:
    return " ".join([key, *map(str, values)])


def _figures(machine: Machine) -> dict[str, int]:
    """Return every scalar of the machine by its flat key."""
    flat = {
        f"{table}.{key}": value
        for (table, key), value in machine.figures.items()
        if table != "clock"
    }
    flat["scheduler.slice"] = flat.pop("scheduler.slice_us") * machine.mhz
    for figure in TRANSACTIONS:  # a capacity of 0 means no transactions
        flat.setdefault(f"{figure.table}.{figure.key}", 0)
    return flat
