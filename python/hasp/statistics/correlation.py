# SPDX-License-Identifier: MIT
"""Correlation of two metrics of a study.

See "Lock - Unlock: Is That All?" (ACM TOCS 2019), section 4.4 and table 16: Pearson's
coefficient over all configurations (lock, size) of one program, for example of
throughput and energy efficiency.
"""

from __future__ import annotations

import numpy
import scipy

from hasp.statistics.grid import Array, Grid


def correlations(one: Grid, other: Grid) -> dict[str, float]:
    """Pearson's r for each program in both grids; NaN with fewer than 3 points."""
    result = {}
    for program in one.programs:
        if program not in other.programs:
            continue
        pairs = _common(one, other, program)
        spread = len(pairs) >= 3 and bool((pairs.std(axis=0) > 0).all())
        result[program] = (
            float(scipy.stats.pearsonr(pairs[:, 0], pairs[:, 1]).statistic)
            if spread
            else float("nan")
        )
    return result


def _common(one: Grid, other: Grid, program: str) -> Array:
    """The means of the configurations in both grids, of shape (configurations, 2)."""
    first = one.values[one.programs.index(program)]
    second = other.values[other.programs.index(program)]
    pairs = [
        (first[i, j], second[other.locks.index(lock), other.sizes.index(size)])
        for i, lock in enumerate(one.locks)
        if lock in other.locks
        for j, size in enumerate(one.sizes)
        if size in other.sizes
    ]
    found: Array = numpy.array(pairs, dtype=float).reshape(-1, 2)
    complete: Array = found[~numpy.isnan(found).any(axis=1)]
    return complete
