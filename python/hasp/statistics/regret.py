# SPDX-License-Identifier: MIT
"""Regret: how much faster the best choice would have been than the one that was made.

The best of many noisy medians is too good: it is the best choice plus its luck (the
"winner's curse", Capen, Clapp and Campbell, Journal of Petroleum Technology 1971). With
40 choices of equal worth and five runs each, it promises several per cent. `held_out`
therefore picks the best by all rounds but one and takes its value from that one, in
turn (leave-one-out cross-validation: Stone, Journal of the Royal Statistical Society B,
1974).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from statistics import median

Values = Mapping[str, Sequence[float]]  # by choice; higher is better, one per round


def best(values: Values) -> str:
    """The choice with the highest median."""
    return max(values, key=lambda name: median(values[name]))


def as_measured(values: Values, chosen: str) -> float:
    """Best median / the chosen median - 1; biased upward where runs are noisy.

    Infinite if the chosen median is 0.
    """
    reference = median(values[chosen])
    return median(values[best(values)]) / reference - 1 if reference else inf


def held_out(values: Values, chosen: str) -> float:
    """The regret without the luck of the best: 0 if nothing better is reproducible.

    The median, over the rounds, of the value in that round of the choice that is best
    in the others, relative to the median of the chosen one.
    """
    rounds = max(len(found) for found in values.values())
    reference = median(values[chosen])
    if not reference:
        return inf
    ratios = []
    for left in range(rounds):
        others = {
            name: [*found[:left], *found[left + 1 :]]
            for name, found in values.items()
            if left < len(found) and len(found) > 1
        }
        if not others:
            continue
        winner = best(others)
        same = winner == chosen
        ratios.append(1.0 if same else values[winner][left] / reference)
    return max(0.0, median(ratios) - 1) if ratios else as_measured(values, chosen)
