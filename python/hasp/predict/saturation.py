# SPDX-License-Identifier: MIT
"""Find the lock that saturates first, and the number of threads at which it does.

A lock is saturated if it is held, or on its way from one thread to a waiting one, 90 %
of the time. The number of threads is found by bisection, for each variant by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median_low

from hasp.predict.load import Load, Variant
from hasp.predict.runs import Case, Outcome

SATURATED = 0.9

Simulate = Callable[[Sequence[tuple[int, Variant]]], dict[Case, Outcome]]


@dataclass(frozen=True)
class Saturation:
    """The lock that saturates first; without one, the lock that is busiest."""

    site: int  # index in the load
    threads: int | None  # None: not with the most threads simulated
    low: int | None  # fewest of all variants
    high: int | None  # most; None if it does not saturate in some of them
    busy: float  # its median at the most threads
    agreeing: float  # share of the variants in which it is this lock
    waiting: float  # share of the threads' time at the most threads, median


def saturation(
    load: Load, threads: Sequence[int], variants: Sequence[Variant], simulate: Simulate
) -> Saturation:
    """Return the lock that saturates first with up to the most of `threads`."""
    most = threads[-1]
    known: dict[tuple[int, Variant], Outcome] = {}

    def look(pairs: Sequence[tuple[int, Variant]]) -> None:
        for case, outcome in simulate(pairs).items():
            known[case.workers, case.variant] = outcome

    look([(count, variant) for count in threads for variant in variants])
    brackets: dict[Variant, tuple[int, int | None]] = {}
    for variant in variants:
        full = [n for n in threads if is_full(known[n, variant])]
        first = full[0] if full else None
        below = [n for n in threads if first is None or n < first]
        brackets[variant] = (below[-1] if below else 0, first)
    while open_ones := [
        (variant, (low + high) // 2)
        for variant, (low, high) in brackets.items()
        if high is not None and high - low > 1
    ]:
        look([(middle, variant) for variant, middle in open_ones])
        for variant, middle in open_ones:
            low, high = brackets[variant]
            full_there = is_full(known[middle, variant])
            brackets[variant] = (low, middle) if full_there else (middle, high)
    firsts = {variant: high for variant, (_, high) in brackets.items()}
    return _summary(load, known, firsts, most)


def is_full(outcome: Outcome) -> bool:
    """Return true if some lock is saturated."""
    return max(outcome.busy) >= SATURATED


def _summary(
    load: Load,
    known: dict[tuple[int, Variant], Outcome],
    firsts: dict[Variant, int | None],
    most: int,
) -> Saturation:
    found = {v: known[n if n is not None else most, v] for v, n in firsts.items()}
    sites = {
        v: max(range(len(o.busy)), key=o.busy.__getitem__) for v, o in found.items()
    }
    site, agreeing = Counter(sites.values()).most_common(1)[0]
    numbers = [most + 1 if n is None else n for n in firsts.values()]
    at_most = [known[most, variant] for variant in firsts]
    middle, high = median_low(numbers), max(numbers)
    saturates = middle <= most
    return Saturation(
        site,
        middle if saturates else None,
        min(numbers) if saturates else None,
        high if saturates and high <= most else None,
        median_low([outcome.busy[site] for outcome in at_most]),
        agreeing / len(firsts),
        median_low([outcome.waiting[site] for outcome in at_most]),
    )
