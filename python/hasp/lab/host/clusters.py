# SPDX-License-Identifier: MIT
"""Levels of latency: what measured pairs of CPUs have in common, and what hwloc says.

As mctop does it (Chatzopoulos, Guerraoui, Harris and Trigonakis, "Abstracting
multi-core topologies with MCTOP", EuroSys 2017, section 3): all pairs in the order of
their latency, cut where neighbours are far apart.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Neighbours this far apart are of different levels: twenty cycles as in mctop, and a
# share, since what is far also scatters more.
GAP_CYCLES = 20
GAP_SHARE = 0.15

Pair = tuple[int, int]


@dataclass(frozen=True)
class Level:
    """Pairs of CPUs that are equally far apart."""

    cycles: float  # their median
    low: float
    high: float
    pairs: tuple[Pair, ...]


def levels(latency: Mapping[Pair, float]) -> list[Level]:
    """From near to far."""
    ordered = sorted(latency, key=lambda pair: (latency[pair], pair))
    groups: list[list[Pair]] = []
    for pair in ordered:
        if groups:
            before = latency[groups[-1][-1]]
            if latency[pair] - before <= max(GAP_CYCLES, GAP_SHARE * before):
                groups[-1].append(pair)
                continue
        groups.append([pair])
    found = []
    for group in groups:
        values = [latency[pair] for pair in group]
        found.append(
            Level(statistics.median(values), min(values), max(values), tuple(group))
        )
    return found


def disagreements(
    found: Sequence[Level], relation: Mapping[Pair, str], order: Sequence[str]
) -> list[str]:
    """Where latency contradicts what hwloc says of the pairs, in words.

    `order` has the relations from near to far.
    """
    place = {pair: number for number, level in enumerate(found) for pair in level.pairs}
    words = []
    before: tuple[str, float] | None = None
    for name in order:
        pairs = [pair for pair in place if relation[pair] == name]
        if not pairs:
            continue
        numbers = sorted({place[pair] for pair in pairs})
        if len(numbers) > 1:
            spans = " and ".join(f"{found[number].cycles:.0f}" for number in numbers)
            words.append(
                f"all pairs with {name} should be alike, but take {spans} cycles"
            )
        median = statistics.median(found[place[pair]].cycles for pair in pairs)
        if before is not None and median < before[1]:
            words.append(
                f"{name} should be farther than {before[0]}, but takes {median:.0f} "
                f"cycles, and the other {before[1]:.0f}"
            )
        before = (name, median)
    return words
