# SPDX-License-Identifier: MIT
"""Coverage and harm of each lock, over the programs that it was measured on.

"Lock - Unlock: Is That All?" (ACM TOCS 2019), section 4.2: coverage (tables 11, 31 to
34), harmfulness (table 12), and the gain of the best lock over each (tables 52 to 65).
All functions take means of shape (programs, locks). These limits reproduce the paper's
figures: its two 5 % tests differ from each other, and its 15 % is relative to the given
lock.
"""

from __future__ import annotations

import numpy

from hasp.statistics.grid import Array, Flags, best_of, percent

AMONG_BEST = 0.95  # a lock with at least this share of the best is among the best
HARMFUL_ABOVE = 1.15  # a lock is harmful if the best is more than 15 % faster


def among_best(values: Array) -> Flags:
    """Return true where a lock is within 5 % of the best for a program."""
    with numpy.errstate(invalid="ignore"):
        flags: Flags = values >= AMONG_BEST * best_of(values)
    return flags


def coverage(values: Array) -> Array:
    """For each lock, the percentage of its programs in which it is among the best."""
    return percent(among_best(values), ~numpy.isnan(values), axis=0)


def harmful(values: Array) -> Array:
    """For each lock, the percentage of its programs that it slows by over 15 %."""
    with numpy.errstate(invalid="ignore"):
        flags = best_of(values) / values > HARMFUL_ABOVE
    return percent(flags, ~numpy.isnan(values), axis=0)


def gain_of_best(values: Array) -> Array:
    """best / value - 1: the gain of each program from changing to its best lock."""
    gain: Array = best_of(values) / values - 1.0
    return gain
