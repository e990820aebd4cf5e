# SPDX-License-Identifier: MIT
"""Groups pairs of CPUs into levels of latency, and compares the levels with hwloc.

The method is that of mctop (Chatzopoulos, Guerraoui, Harris and Trigonakis,
"Abstracting multi-core topologies with MCTOP", EuroSys 2017, section 3): sort all pairs
by latency and cut where neighbours differ by more than a gap.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Neighbours that differ by more than this belong to different levels: 20 cycles as in
# mctop, or a share of the latency, because long latencies vary more.
GAP_CYCLES = 20
GAP_SHARE = 0.15

Pair = tuple[int, int]


@dataclass(frozen=True)
class Level:
    """Pairs of CPUs with about the same latency."""

    cycles: float  # median of the pairs
    low: float
    high: float
    pairs: tuple[Pair, ...]


def levels(latency: Mapping[Pair, float]) -> list[Level]:
    """Return the levels of the pairs' latencies (cycles), nearest first."""
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
    """Return sentences on pairs whose latency contradicts hwloc's description.

    `relation` is hwloc's relation of each pair; `order` lists the relations from near
    to far.
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
                f"pairs with {name} should have one latency, but take {spans} cycles"
            )
        median = statistics.median(found[place[pair]].cycles for pair in pairs)
        if before is not None and median < before[1]:
            words.append(
                f"{name} should be slower than {before[0]}, but takes {median:.0f} "
                f"cycles against {before[1]:.0f}"
            )
        before = (name, median)
    return words
