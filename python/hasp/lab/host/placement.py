# SPDX-License-Identifier: MIT
"""Describes this host's CPUs as dies and distances, as machine files do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hasp.lab.host.rows import of_kind
from hasp.lab.host.target import Row
from hasp.lab.host.topology import CORE, OTHER, nearness

SAME_CORE, SAME_DIE = "same_core", "same_die"


@dataclass(frozen=True)
class Places:
    """Groups of CPUs that share a last-level cache ('places' in machine files)."""

    cpus: tuple[tuple[int, ...], ...]  # by group, with the system's numbers
    threads_per_core: int
    nodes: int
    distances: tuple[str, ...]  # from near to far
    relation: dict[str, str]  # distance -> the measured relation it comes from
    between: tuple[tuple[int, ...], ...]
    even: bool  # if false, group sizes differ and all CPUs form one group


def places_of(rows: Sequence[Row]) -> Places:
    """Return the groups and distances found in rows of kinds `cpu` and `pair`."""
    cpus = of_kind(rows, "cpu")
    relation = _relations(rows)
    threads = _threads_per_core(cpus)
    groups = _groups(cpus)
    even = len({len(group) for group in groups}) == 1 and threads > 0
    if not even or len(groups[0]) % threads:
        threads, groups, even = 1, [[row["cpu"] for row in cpus]], False
    names: dict[str, str] = {}
    inner, outer = (_names(relation, groups, within) for within in (True, False))
    if threads > 1:
        names[SAME_CORE] = CORE
        inner = [name for name in inner if name != CORE]
    if inner or len(groups) == 1:
        names[SAME_DIE] = max(inner, key=nearness) if inner else CORE
    for name in sorted(outer, key=nearness):
        names[_slug(name)] = name
    order = list(names)
    known = {relation_name: order.index(slug) for slug, relation_name in names.items()}
    own = 1 if threads > 1 else 0
    between = tuple(
        tuple(
            own if one is other else known[relation[_pair(one[0], other[0])]]
            for other in groups
        )
        for one in groups
    )
    nodes = len({row["node"] for row in cpus})
    return Places(
        tuple(map(tuple, groups)),
        threads,
        nodes if len(groups) % nodes == 0 else 1,
        tuple(order),
        names,
        between,
        even,
    )


def _names(
    relation: Mapping[tuple[int, int], str],
    groups: Sequence[Sequence[int]],
    within: bool,
) -> list[str]:
    """Return the relations within groups, or else between them.

    They are in the order of the pairs, which decides if their nearness is not known.
    """
    return list(
        dict.fromkeys(
            name for pair, name in relation.items() if _same(groups, *pair) == within
        )
    )


def _pair(one: int, other: int) -> tuple[int, int]:
    return (min(one, other), max(one, other))


def _relations(rows: Sequence[Row]) -> dict[tuple[int, int], str]:
    return {
        _pair(row["cpu"], row["holder"]): row["relation"]
        for row in of_kind(rows, "pair")
    }


def _threads_per_core(cpus: Sequence[Row]) -> int:
    """Return the threads per core; 0 if cores differ."""
    counts: dict[object, int] = {}
    for row in cpus:
        key = row["cpu"] if row["core"] is None else row["core"]
        counts[key] = counts.get(key, 0) + 1
    return counts.popitem()[1] if len(set(counts.values())) == 1 else 0


def _groups(cpus: Sequence[Row]) -> list[list[int]]:
    """Group CPUs by last-level cache or package; threads of a core are adjacent."""
    found: dict[object, list[Row]] = {}
    for row in cpus:
        shared = row["caches"][-1]["cpus"] if row["caches"] else []
        key: object = tuple(shared) if len(shared) > 1 else row["package"]
        found.setdefault(key, []).append(row)
    return [
        [
            row["cpu"]
            for row in sorted(group, key=lambda row: (row["core"] or 0, row["cpu"]))
        ]
        for group in sorted(found.values(), key=lambda group: group[0]["node"] or 0)
    ]


def _same(groups: Sequence[Sequence[int]], one: int, other: int) -> bool:
    return any(one in group and other in group for group in groups)


def _slug(relation: str) -> str:
    words = relation.replace(",", "").replace(f"{OTHER} distance", "distance").split()
    return "_".join(words)
