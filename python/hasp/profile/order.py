# SPDX-License-Identifier: MIT
"""Locks taken in opposite orders: what could deadlock, though perhaps it never did.

An edge of the graph says that one lock was acquired while another was held. Threads can
only block each other for ever on a cycle of edges (Coffman, Elphick, Shoshani: System
Deadlocks, 1971), so every cycle is reported, by pairs of sites, the shortest cycles
first. Trylocks do not wait, and a lock taken again by its holder does not wait for
itself, so neither kind of edge counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hasp.trace.format import Records

MOST_CYCLES = 100  # more are one bug many times over
MOST_STEPS = 2_000_000  # of the search, over all cycles


def blocking(edges: Records, locks: int) -> NDArray[np.bool_]:
    """Which edges can be part of a deadlock; `locks` is how many numbers there are."""
    outer, inner = edges["outer"], edges["inner"]
    known = (outer > 0) & (outer < locks) & (inner > 0) & (inner < locks)
    real: NDArray[np.bool_] = known & (outer != inner) & (edges["by_try"] == 0)
    return real


def cycles(
    edges: Records, locks: int, site_of: Callable[[int], int]
) -> tuple[list[tuple[int, ...]], bool]:
    """The places of edges that form cycles, each leading to the next one's outer lock.

    One shortest cycle for each pair of sites; and whether these are all.
    """
    places = np.flatnonzero(blocking(edges, locks))
    outer, inner = edges["outer"][places], edges["inner"][places]
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
        if frozenset((site_of(first.outer), site_of(first.inner))) in seen:
            continue
        if len(found) == MOST_CYCLES or budget <= 0:
            return found, False
        back, taken = _path(leaving, first.inner, first.outer, budget)
        budget -= taken
        cycle = (first, *back)
        seen |= {frozenset((site_of(s.outer), site_of(s.inner))) for s in cycle}
        if back:
            found.append(tuple(step.place for step in cycle))
    return sorted(found, key=len), budget > 0


class Step(NamedTuple):
    """An edge on a cycle."""

    outer: int
    inner: int
    place: int


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
