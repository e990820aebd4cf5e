# SPDX-License-Identifier: MIT
"""Pairwise comparison of locks.

"Lock - Unlock: Is That All?" (ACM TOCS 2019), sections 4.2.3 and 4.3: the share of the
programs on which one lock beats another (tables 38 to 51), and the share of pairs whose
order changes between two sizes or two machines (tables 13, 66 to 72, 90).
"""

from __future__ import annotations

import numpy

from hasp.statistics.grid import Array, Flags

BEATS_ABOVE = 1.05  # A beats B if it is more than 5 % above
UPPER = 1.0 / 0.95
LOWER = 0.95


def superiority(values: Array) -> Array:
    """Entry [a, b]: the percentage of programs on which lock a beats lock b.

    Only programs with both locks count. `values` are means of shape (programs, locks);
    the result is NaN on the diagonal and for pairs never measured together.
    """
    known = ~numpy.isnan(values)
    together = known[:, :, None] & known[:, None, :]
    with numpy.errstate(invalid="ignore"):
        beats = values[:, :, None] > BEATS_ABOVE * values[:, None, :]
    total = together.sum(axis=0)
    share = 100.0 * (beats & together).sum(axis=0) / numpy.maximum(total, 1)
    result: Array = numpy.where(total == 0, numpy.nan, share)
    numpy.fill_diagonal(result, numpy.nan)
    return result


def _ratios(values: Array) -> Array:
    """Entry [program, a, b]: mean of a divided by that of b; NaN on the diagonal."""
    with numpy.errstate(invalid="ignore", divide="ignore"):
        ratios: Array = values[:, :, None] / values[:, None, :]
    places = numpy.arange(values.shape[1])
    ratios[:, places, places] = numpy.nan
    return ratios


def changed(first: Array, second: Array) -> tuple[Flags, Flags]:
    """Return the ordered pairs (a, b) whose order changes between two sets of means.

    Returns flags of the changed pairs and of those measured in both sets, each of shape
    (programs, locks, locks). A pair changes if its ratio was clearly in one state
    (above 1/0.95, below 0.95, or even) and has left it. The limits are not symmetric:
    this rule reproduces 375 of the 377 printed cells that can be recomputed from the
    released runs; the simple rule of three states reproduces 71 % of them.
    """
    one, two = _ratios(first), _ratios(second)
    known: Flags = ~(numpy.isnan(one) | numpy.isnan(two))
    with numpy.errstate(invalid="ignore"):
        flags: Flags = (
            ((one > UPPER) & (two <= BEATS_ABOVE))
            | ((one < LOWER) & (two >= LOWER))
            | ((one >= LOWER) & (one <= BEATS_ABOVE) & ((two < LOWER) | (two > UPPER)))
            | ((one > BEATS_ABOVE) & (one <= UPPER) & (two < LOWER))
        )
    return flags & known, known


def share_of_changes(first: Array, second: Array) -> Array:
    """Return the percentage of changed pairs of each program."""
    flags, known = changed(first, second)
    return _share(flags, known)


def share_of_any_change(several: list[Array]) -> Array:
    """The percentage of pairs that change between any two of several sets of means."""
    shape = (*several[0].shape, several[0].shape[1])
    ever: Flags = numpy.zeros(shape, dtype=bool)
    seen: Flags = numpy.zeros(shape, dtype=bool)
    for index, first in enumerate(several):
        for second in several[index + 1 :]:
            flags, known = changed(first, second)
            ever |= flags
            seen |= known
    return _share(ever, seen)


def _share(flags: Flags, known: Flags) -> Array:
    total = known.sum(axis=(1, 2))
    share = 100.0 * flags.sum(axis=(1, 2)) / numpy.maximum(total, 1)
    result: Array = numpy.where(total == 0, numpy.nan, share)
    return result
