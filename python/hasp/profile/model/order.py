# SPDX-License-Identifier: MIT
"""Locks taken in opposite orders: what could deadlock, though perhaps it never did.

An edge of the graph says that one lock was acquired while another was held. Threads can
only block each other for ever on a cycle of edges (Coffman, Elphick, Shoshani: System
Deadlocks, 1971), so every cycle is reported, by pairs of sites, the shortest cycles
first. Trylocks do not wait, and a lock taken again by its holder does not wait for
itself, so neither kind of edge counts.

Readers do not wait for readers: on a cycle that blocks, each lock is either acquired or
held by one who is alone with it. So a node is a lock with the way in which it was
acquired, and who acquired it to read goes on only to edges that hold it for writing.
Where readers queue up behind writers that wait, they do wait for readers, as long as
some writer does: `writers_first` are the locks that are made so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hasp.profile.trace.format import EdgeMode, Records

MOST_CYCLES = 100  # more are one bug many times over
MOST_STEPS = 2_000_000  # of the search, over all cycles


def blocking(edges: Records, locks: int) -> NDArray[np.bool_]:
    """Which edges can be part of a deadlock; `locks` is how many numbers there are."""
    outer, inner = edges["outer"], edges["inner"]
    known = (outer > 0) & (outer < locks) & (inner > 0) & (inner < locks)
    real: NDArray[np.bool_] = known & (outer != inner) & (edges["by_try"] == 0)
    return real


class Arcs(NamedTuple):
    """Ways from node to node; a node is twice a lock's number, plus 1 for a reader."""

    outer: NDArray[np.int64]
    inner: NDArray[np.int64]
    places: NDArray[np.intp]  # of the edges


def arcs(
    edges: Records, locks: int, writers_first: NDArray[np.bool_] | None = None
) -> Arcs:
    """The nodes that edges connect. `writers_first` by lock number: None for none."""
    places = np.flatnonzero(blocking(edges, locks))
    modes = edges["modes"][places]
    modes = np.where(modes == 0, EdgeMode.BOTH_ALONE, modes)  # of older traces
    outer, inner = (
        2 * edges[end][places].astype(np.int64) for end in ("outer", "inner")
    )
    queued = np.zeros(len(places), bool)
    if writers_first is not None:
        queued = writers_first[edges["outer"][places]]
    parts: list[Arcs] = []
    for mode, reads_outer, reads_inner in (
        (EdgeMode.BOTH_ALONE, False, False),
        (EdgeMode.INNER_READ, False, True),
        (EdgeMode.OUTER_READ, True, False),
        (EdgeMode.BOTH_READ, True, True),
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
    """The places of edges that form cycles, each leading to the next one's outer lock.

    One shortest cycle for each pair of sites; and whether these are all.
    """
    outer, inner, places = arcs(edges, locks, writers_first)
    # Only locks that have edges are nodes: there may be a million others.
    nodes, flat = np.unique(np.concatenate([outer, inner]), return_inverse=True)
    begin, end = flat[: len(places)], flat[len(places) :]
    graph = coo_array((np.ones(len(places)), (begin, end)), shape=(len(nodes),) * 2)
    _, component = connected_components(graph, connection="strong")
    leaving: dict[int, list[Step]] = {}
    for place in np.flatnonzero(component[begin] == component[end]).tolist():
        step = Step(int(outer[place]), int(inner[place]), int(places[place]))
        leaving.setdefault(step.outer, []).append(step)
    found: list[tuple[int, ...]] = []
    seen: set[frozenset[int]] = set()
    budget = MOST_STEPS
    steps = [step for leave in leaving.values() for step in leave]
    # Those that are turned around as they are come first: longer circles through the
    # same locks do not hide them.
    pairs = {(step.inner, step.outer) for step in steps}
    for first in sorted(steps, key=lambda step: (step.outer, step.inner) not in pairs):
        if _sites(first, site_of) in seen:
            continue
        if len(found) == MOST_CYCLES or budget <= 0:
            return found, False
        back, taken = _path(leaving, first.inner, first.outer, budget)
        budget -= taken
        cycle = (first, *back)
        seen |= {_sites(step, site_of) for step in cycle}
        if back:
            found.append(tuple(step.place for step in cycle))
    return sorted(found, key=len), budget > 0


class Step(NamedTuple):
    """An edge on a cycle, from node to node."""

    outer: int
    inner: int
    place: int


def _sites(step: Step, site_of: Callable[[int], int]) -> frozenset[int]:
    return frozenset((site_of(step.outer // 2), site_of(step.inner // 2)))


def _path(
    leaving: dict[int, list[Step]], begin: int, end: int, budget: int
) -> tuple[list[Step], int]:
    """A shortest way from lock to lock, and what the search took; none if too much."""
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
