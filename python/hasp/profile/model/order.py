# SPDX-License-Identifier: MIT
"""Find cycles in the lock order: potential deadlocks, even if none ever happened.

An edge means that one lock was acquired while another was held. Threads can block each
other forever only on a cycle of edges (Coffman, Elphick, Shoshani: System Deadlocks,
1971), so every cycle is reported, by pairs of sites, the shortest first. Edges by
trylock do not wait and are ignored; so are recursive acquisitions. A cycle whose
acquisitions all happen with one outer lock held cannot block either.

Readers do not wait for readers: on a blocking cycle each lock is acquired or held
exclusively. So a node is a lock with the mode of its acquisition, and a read
acquisition leads only to edges that hold the lock for writing. If readers queue behind
waiting writers, a reader does wait for other readers while a writer waits:
`writers_first` marks the rwlocks created with that preference.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hasp.profile.trace.format import OrderMode, Records

MOST_CYCLES = 100  # beyond this, cycles repeat the same bug
MOST_STEPS = 2_000_000  # of the search, over all cycles


def blocking(edges: Records, locks: int) -> NDArray[np.bool_]:
    """Return which edges can be part of a deadlock; `locks` bounds the lock numbers."""
    outer, inner = edges["outer"], edges["inner"]
    known = (outer > 0) & (outer < locks) & (inner > 0) & (inner < locks)
    real: NDArray[np.bool_] = known & (outer != inner) & (edges["by_try"] == 0)
    return real


class Arcs(NamedTuple):
    """Arcs between nodes. A node is twice the lock's number, plus 1 for readers."""

    outer: NDArray[np.int64]
    inner: NDArray[np.int64]
    places: NDArray[np.intp]  # indices of the edges


def arcs(
    edges: Records, locks: int, writers_first: NDArray[np.bool_] | None = None
) -> Arcs:
    """Return the arcs of the edges; `writers_first` is indexed by lock number."""
    places = np.flatnonzero(blocking(edges, locks))
    modes = edges["modes"][places]
    # older traces have no modes
    modes = np.where(modes == 0, OrderMode.BOTH_ALONE, modes)
    outer, inner = (
        2 * edges[end][places].astype(np.int64) for end in ("outer", "inner")
    )
    queued = np.zeros(len(places), bool)
    if writers_first is not None:
        queued = writers_first[edges["outer"][places]]
    parts: list[Arcs] = []
    for mode, reads_outer, reads_inner in (
        (OrderMode.BOTH_ALONE, False, False),
        (OrderMode.INNER_READ, False, True),
        (OrderMode.OUTER_READ, True, False),
        (OrderMode.BOTH_READ, True, True),
    ):
        met = modes & mode != 0
        for reader in (False, True):
            goes = met & (queued if reader and reads_outer else True)
            parts.append(
                Arcs(outer[goes] + reader, inner[goes] + reads_inner, places[goes])
            )
    return Arcs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def cycles(
    edges: Records,
    locks: int,
    site_of: Callable[[int], int],
    writers_first: NDArray[np.bool_] | None = None,
) -> tuple[list[tuple[int, ...]], bool]:
    """Return cycles as tuples of edge indices, and whether the list is complete.

    There is one shortest cycle for each pair of sites; each edge leads to the outer
    lock of the next.
    """
    outer, inner, places = arcs(edges, locks, writers_first)
    columns = (outer.tolist(), inner.tolist(), places.tolist())
    steps = [Step(*row) for row in zip(*columns, strict=True)]
    component = components((step.outer, step.inner) for step in steps)
    steps = [step for step in steps if component[step.outer] == component[step.inner]]
    leaving: dict[int, list[Step]] = {}
    for step in steps:
        leaving.setdefault(step.outer, []).append(step)
    found: list[tuple[int, ...]] = []
    seen: set[frozenset[int]] = set()
    budget = MOST_STEPS
    # Direct inversions come first, so that longer cycles through the same locks do not
    # hide them.
    pairs = {(step.inner, step.outer) for step in steps}
    for first in sorted(steps, key=lambda step: (step.outer, step.inner) not in pairs):
        if _sites(first, site_of) in seen:
            continue
        if len(found) == MOST_CYCLES or budget <= 0:
            return found, False
        back, taken = _path(leaving, first.inner, first.outer, budget)
        budget -= taken
        cycle = (first, *back)
        if back and guarded(edges, [step.place for step in cycle]):
            continue
        seen |= {_sites(step, site_of) for step in cycle}
        if back:
            found.append(tuple(step.place for step in cycle))
    return sorted(found, key=len), budget > 0


def guarded(edges: Records, places: Sequence[int]) -> bool:
    """Return true if a common outer lock forbids this cycle of edges.

    Every thread on the cycle holds that lock, so there is only one at a time.
    """
    gates = {int(edges["gate"][place]) for place in places}
    return len(gates) == 1 and 0 not in gates


def components(arcs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the strongly connected component of each node, numbered from 0."""
    # Imported here because it takes long to load, and inversions are rare.
    import networkx

    graph = networkx.DiGraph(arcs)
    found = networkx.strongly_connected_components(graph)
    return {node: number for number, nodes in enumerate(found) for node in nodes}


class Step(NamedTuple):
    """An arc on a cycle."""

    outer: int
    inner: int
    place: int


def _sites(step: Step, site_of: Callable[[int], int]) -> frozenset[int]:
    return frozenset((site_of(step.outer // 2), site_of(step.inner // 2)))


def _path(
    leaving: dict[int, list[Step]], begin: int, end: int, budget: int
) -> tuple[list[Step], int]:
    """Return a shortest path and the steps taken; the path is empty if over budget."""
    came: dict[int, Step] = {}
    queue = deque([begin])
    taken = 0
    while queue and end not in came and taken < budget:
        for step in leaving[queue.popleft()]:
            taken += 1
            if step.inner not in came and step.inner != begin:
                came[step.inner] = step
                queue.append(step.inner)
    path: list[Step] = []
    while end in came:
        path.append(came[end])
        end = came[end].outer
    return path[::-1], taken
