# SPDX-License-Identifier: MIT
"""Merge stacks into a tree for a flame graph that is small enough for a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_NODES = 1500


def tree(sums: Mapping[tuple[str, ...], int], root: str) -> dict[str, list[Any]]:
    """Return columns of nodes: label, parent's index (-1: none), value.

    A node's value is the sum over all stacks through it. The smallest nodes are dropped
    until MOST_NODES remain; their time stays in their callers.
    """
    values: dict[tuple[str, ...], int] = {(): sum(sums.values())}
    for path, value in sums.items():
        for depth in range(1, len(path) + 1):
            key = path[:depth]
            values[key] = values.get(key, 0) + value
    # A caller is never smaller than its callees, so the largest nodes form a tree;
    # among equal nodes, the caller comes first.
    kept = sorted(values, key=lambda path: (-values[path], len(path)))[:MOST_NODES]
    places = {path: index for index, path in enumerate(kept)}
    return {
        "labels": [path[-1] if path else root for path in kept],
        "parents": [places[path[:-1]] if path else -1 for path in kept],
        "values": [values[path] for path in kept],
    }
