# SPDX-License-Identifier: MIT
"""The lock order as a graph of sites.

Layers go from left to right: a site is to the right of all sites held when it was
acquired. Sites acquired in both orders, directly or in a cycle, share a layer; the
edges between them are potential deadlocks. Within a layer, sites are near their
neighbours (the barycentre heuristic: Sugiyama, Tagawa and Toda, "Methods for visual
understanding of hierarchical system structures", IEEE Transactions on Systems, Man and
Cybernetics 1981).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from hasp.profile.model.order import components
from hasp.profile.model.profile import Profile
from hasp.profile.report.findings import INVERSION, Names
from hasp.profile.report.layout import shortened

MOST_SITES = 40
WIDTH, HEIGHT = 200, 42  # size of a box
LETTERS = 27  # letters that fit in its width
GAP_X, GAP_Y, MARGIN = 80, 22, 12
SWEEPS = 4


@dataclass(frozen=True)
class Box:
    """A site with its upper left corner."""

    site: int
    name: str
    x: float
    y: float

    @property
    def place(self) -> str:
        """The location that creates its locks."""
        return shortened(self.name.partition(" ")[0], LETTERS)

    @property
    def lock(self) -> str:
        """The lock's expression; the end of a C++ name is more specific."""
        words = self.name.partition(" ")[2].removeprefix("in ")
        return words if len(words) <= LETTERS else f"...{words[3 - LETTERS :]}"


@dataclass(frozen=True)
class Arrow:
    """An edge: the second lock was acquired while the first was held."""

    outer: Box
    inner: Box
    count: int
    by_try: bool
    circular: bool  # the opposite order occurs too
    path: str  # SVG path


@dataclass(frozen=True)
class Graph:
    """The graph."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    width: float
    height: float
    left_out: int  # number of omitted sites


def order_graph(profile: Profile, names: Names) -> Graph:
    """Return the graph of the most nested sites; those in cycles come first."""
    counts: dict[tuple[int, int], int] = defaultdict(int)
    tried: dict[tuple[int, int], bool] = {}
    for edge in profile.lock_order:
        outer, inner = names.site(edge.outer), names.site(edge.inner)
        if outer and inner:
            key = (outer.number, inner.number)
            counts[key] += edge.count
            tried[key] = tried.get(key, True) and edge.by_try
    ring_of = _rings(counts, tried)
    sizes: dict[int, int] = defaultdict(int)
    for ring in ring_of.values():
        sizes[ring] += 1
    weight: dict[int, int] = defaultdict(int)
    for (outer_site, inner_site), number in counts.items():
        weight[outer_site] += number
        weight[inner_site] += number
    order = sorted(weight, key=lambda site: (sizes[ring_of[site]] < 2, -weight[site]))
    shown = set(order[:MOST_SITES])
    kept = {key: number for key, number in counts.items() if shown.issuperset(key)}
    boxes = _place(shown, kept, ring_of, {s.number: s.name for s in profile.sites})
    own = _inverted_within(profile, names)
    arrows = tuple(
        Arrow(
            boxes[outer],
            boxes[inner],
            number,
            tried[outer, inner],
            outer in own if outer == inner else ring_of[outer] == ring_of[inner],
            _path(boxes[outer], boxes[inner]),
        )
        for (outer, inner), number in kept.items()
    )
    return Graph(
        tuple(boxes.values()),
        arrows,
        max((box.x for box in boxes.values()), default=0) + WIDTH + 3 * MARGIN,
        max((box.y for box in boxes.values()), default=0) + HEIGHT + MARGIN,
        len(order) - len(shown),
    )


def _inverted_within(profile: Profile, names: Names) -> set[int]:
    """Return the sites whose own locks are acquired in both orders."""
    found = set()
    for event in profile.events:
        if event.kind == INVERSION:
            first, second = names.site(event.lock), names.site(event.other)
            if first and second and first.number == second.number:
                found.add(first.number)
    return found


def _rings(
    counts: Mapping[tuple[int, int], int], tried: Mapping[tuple[int, int], bool]
) -> dict[int, int]:
    """Return a number for each site, the same for sites that reach each other."""
    # A trylock does not wait.
    ring_of = components(key for key in counts if not tried[key])
    sites = sorted({site for key in counts for site in key} - ring_of.keys())
    return ring_of | {site: -1 - site for site in sites}


def _place(
    shown: set[int],
    counts: Mapping[tuple[int, int], int],
    ring_of: Mapping[int, int],
    names: Mapping[int, str],
) -> dict[int, Box]:
    layer = _layers(shown, counts, ring_of)
    columns: dict[int, list[int]] = defaultdict(list)
    for site in sorted(shown):
        columns[layer[site]].append(site)
    near: dict[int, list[int]] = defaultdict(list)
    for outer, inner in counts:
        near[outer].append(inner)
        near[inner].append(outer)
    row = {
        s: float(index) for column in columns.values() for index, s in enumerate(column)
    }
    for _ in range(SWEEPS):
        for column in columns.values():
            centre = {
                site: sum(row[other] for other in near[site]) / max(1, len(near[site]))
                for site in column
            }
            column.sort(key=lambda site: (centre[site], site))
            row |= {site: float(index) for index, site in enumerate(column)}
    return {
        site: Box(
            site,
            names[site],
            MARGIN + layer[site] * (WIDTH + GAP_X),
            MARGIN + row[site] * (HEIGHT + GAP_Y),
        )
        for site in sorted(shown)
    }


def _layers(
    shown: set[int],
    counts: Mapping[tuple[int, int], int],
    ring_of: Mapping[int, int],
) -> dict[int, int]:
    """Return the longest path to each ring; edges within a ring do not count."""
    depth = {ring_of[site]: 0 for site in shown}
    between = [
        (ring_of[outer], ring_of[inner])
        for outer, inner in counts
        if ring_of[outer] != ring_of[inner]
    ]
    # Without trylocks, rings form no cycles. With trylocks they may, so the number of
    # rounds is bounded.
    for _ in range(len(depth)):
        changed = False
        for outer, inner in between:
            if depth[inner] <= depth[outer] and depth[outer] + 1 < len(depth):
                depth[inner] = depth[outer] + 1
                changed = True
        if not changed:
            break
    used = {level: index for index, level in enumerate(sorted(set(depth.values())))}
    return {site: used[depth[ring_of[site]]] for site in shown}


def _path(outer: Box, inner: Box) -> str:
    """Return a path from the right of the outer box to the left of the inner one."""
    middle = HEIGHT / 2
    x, y = outer.x + WIDTH, outer.y + middle
    if inner.x > outer.x:
        bend = (inner.x - x) / 2
        return (
            f"M{x:.0f} {y:.0f}C{x + bend:.0f} {y:.0f} {inner.x - bend:.0f} "
            f"{inner.y + middle:.0f} {inner.x:.0f} {inner.y + middle:.0f}"
        )
    # An edge that goes backwards or stays within a column leaves and enters on the
    # right.
    far = max(x, inner.x + WIDTH) + 26
    turn = -8 if inner.y < outer.y else 8
    start, end = y + turn, inner.y + middle - turn
    return (
        f"M{x:.0f} {start:.0f}C{far:.0f} {start:.0f} {far:.0f} {end:.0f} "
        f"{inner.x + WIDTH:.0f} {end:.0f}"
    )
