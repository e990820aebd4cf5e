# SPDX-License-Identifier: MIT
"""Topology of a machine: CPUs, places (dies, tiles or chips) and their distances.

All CPUs of a place are equivalent. A mesh is expanded here, with a place for each tile
and a distance for each number of hops, so the simulator needs no notion of a mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hasp.base.document import Document
from hasp.lab.simulate.machines.schema import (
    COHORTS,
    MOST_CPUS,
    MOST_PLACES,
    PLACEMENTS,
)

TABLE = "topology"
SAME_CORE = "same_core"
MESH_ENDS = ("one_hop", "max_hops")
SAME_TILE = "same_tile"
KEYS = (
    *("source", "cpus", "threads_per_core", "places", "numa_nodes", "distances"),
    *("between_places", "mesh", "placement", "cohorts"),
)


@dataclass(frozen=True)
class Topology:
    """CPUs of a machine, numbered consecutively within each place."""

    cpus: int
    threads_per_core: int
    places: int
    numa_nodes: int
    distances: tuple[str, ...]  # the names in the file
    hops: int  # the maximum between two tiles of a mesh; 0 without a mesh
    between_places: tuple[tuple[int, ...], ...]  # indices of expanded distances
    placement: str
    cohorts: str  # one of COHORTS

    @property
    def cpus_per_place(self) -> int:
        """The number of CPUs in each place."""
        return self.cpus // self.places

    @property
    def expanded(self) -> tuple[str, ...]:
        """The distances of the flattened machine file, from near to far."""
        if not self.hops:
            return self.distances
        core = (SAME_CORE,) if self.threads_per_core > 1 else ()
        return (*core, *(f"{hops}_hops" for hops in range(self.hops + 1)))

    def place_of(self, cpu: int) -> int:
        """Return the place of a CPU."""
        return cpu // self.cpus_per_place

    def numa_node_of(self, place: int) -> int:
        """Return the NUMA node of a place."""
        return place * self.numa_nodes // self.places

    def expand(self, cells: Sequence[int]) -> list[int]:
        """Convert latencies by the file's distances to latencies by expanded ones."""
        if not self.hops:
            return list(cells)
        row = list(cells)
        head = [row.pop(0)] if self.threads_per_core > 1 else []
        own = row.pop(0) if SAME_TILE in self.distances else None
        near, far = row
        steps = max(1, self.hops - 1)

        def cycles(hops: int) -> int:
            return near + round((far - near) * (hops - 1) / steps)

        tile = max(1, cycles(0)) if own is None else own
        return [*head, tile, *(cycles(hops) for hops in range(1, self.hops + 1))]


def read(document: Document) -> Topology:
    """Return a machine file's topology. Raises HaspError with file, line and key."""
    table = document.get((TABLE,))
    if not isinstance(table, dict):
        document.fail((TABLE,), "the table is missing", "write [topology]")
    for key in table:
        if key not in KEYS:
            remedy = f"known keys: {', '.join(KEYS)}"
            document.fail((TABLE, key), "unknown key", remedy)
    cpus = _count(document, "cpus", MOST_CPUS)
    threads = _count(document, "threads_per_core", 64, default=1)
    distances = _distances(document, threads)
    mesh = table.get("mesh")
    if mesh is None:
        places = _count(document, "places", MOST_PLACES)
        hops, between = 0, _matrix(document, places, len(distances), threads > 1)
    else:
        columns, rows = _mesh(document, mesh, distances)
        places, hops = columns * rows, columns + rows - 2
        between = _hops(columns, rows, 1 if threads > 1 else 0)
    if cpus % (places * threads):
        document.fail(
            (TABLE, "cpus"),
            f"{cpus} CPUs cannot be divided evenly among {places} places of cores with "
            f"{threads} threads",
            "correct cpus, places, mesh or threads_per_core",
        )
    nodes = _count(document, "numa_nodes", places)
    if places % nodes:
        document.fail(
            (TABLE, "numa_nodes"),
            f"{places} places cannot be divided evenly among {nodes} NUMA nodes",
            "correct numa_nodes or places",
        )
    placement = table.get("placement", PLACEMENTS[0])
    if placement not in PLACEMENTS:
        remedy = f"one of {', '.join(PLACEMENTS)}"
        document.fail((TABLE, "placement"), f"unknown placement {placement!r}", remedy)
    cohorts = table.get("cohorts", "node" if mesh else COHORTS[0])
    if cohorts not in COHORTS:
        remedy = f"one of {', '.join(COHORTS)}"
        document.fail((TABLE, "cohorts"), f"unknown cohorts {cohorts!r}", remedy)
    return Topology(
        cpus, threads, places, nodes, distances, hops, between, placement, cohorts
    )


def _count(document: Document, key: str, most: int, default: int | None = None) -> int:
    value = document.get((TABLE, key))
    if value is None and default is not None:
        return default
    if value is None:
        document.fail((TABLE, key), "missing", "write a number")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        remedy = f"write a number from 1 to {most}"
        document.fail((TABLE, key), f"{value!r} is not a count", remedy)
    return value


def _distances(document: Document, threads: int) -> tuple[str, ...]:
    value = document.get((TABLE, "distances"))
    words = isinstance(value, list) and all(isinstance(name, str) for name in value)
    if not words or not value or len(set(value)) != len(value):
        document.fail(
            (TABLE, "distances"),
            "must be a list of different names",
            "name the distances from near to far, as in the rows of [latency]",
        )
    if (value[0] == SAME_CORE) != (threads > 1):
        document.fail(
            (TABLE, "distances"),
            f"`{SAME_CORE}` comes first if and only if cores have several threads",
            "correct distances or threads_per_core",
        )
    return tuple(value)


def _matrix(
    document: Document, places: int, distances: int, threaded: bool
) -> tuple[tuple[int, ...], ...]:
    key = (TABLE, "between_places")
    value: Any = document.get(key)
    own = 1 if threaded else 0  # the distance within a place
    if value is None and places == 1:
        return ((own,),)
    square = isinstance(value, list) and len(value) == places
    if not square or any(
        not isinstance(row, list) or len(row) != places for row in value
    ):
        document.fail(
            key, f"must be {places} rows of {places} numbers", "one row per place"
        )
    for one, row in enumerate(value):
        for other, number in enumerate(row):
            where = f"row {one + 1}, column {other + 1}: "
            if number not in range(distances):
                remedy = f"use indices from 0 into the {distances} names of `distances`"
                document.fail(key, f"{where}unknown distance {number!r}", remedy)
            if number != value[other][one]:
                remedy = "correct one of the two"
                document.fail(key, f"{where}differs from the opposite entry", remedy)
            if (number == own) != (one == other) or number < own:
                remedy = f"{own} belongs on the diagonal, and nowhere else"
                document.fail(key, f"{where}{number} is not allowed", remedy)
    return tuple(tuple(row) for row in value)


def _mesh(document: Document, mesh: Any, distances: Sequence[str]) -> tuple[int, int]:
    key = (TABLE, "mesh")
    whole = isinstance(mesh, list) and len(mesh) == 2
    if not whole or any(side not in range(1, 17) for side in mesh):
        document.fail(key, f"{mesh!r} is not a mesh", "write [columns, rows]")
    if mesh[0] * mesh[1] < 3:
        document.fail(key, "a mesh has three tiles or more", "use places instead")
    named = [name for name in distances if name not in (SAME_CORE, SAME_TILE)]
    if tuple(named) != MESH_ENDS:
        document.fail(
            (TABLE, "distances"),
            f"the distances of a mesh are {' and '.join(MESH_ENDS)}, after "
            f"{SAME_CORE} and {SAME_TILE} if they apply",
            "name these; distances in between are interpolated",
        )
    return mesh[0], mesh[1]


def _hops(columns: int, rows: int, own: int) -> tuple[tuple[int, ...], ...]:
    tiles = [(tile % columns, tile // columns) for tile in range(columns * rows)]
    return tuple(
        tuple(own + abs(x - i) + abs(y - j) for i, j in tiles) for x, y in tiles
    )
