# SPDX-License-Identifier: MIT
"""Which locks collapse: more of the machine makes the program much slower.

The lock study ("Lock - Unlock: Is That All?", ACM TOCS 2019, section 4.1) sees many
locks lose most of their throughput between the size at which they do best and the
whole machine, and advises to look for that first. It names no limit; half of the peak
is Hasp's.
"""

from __future__ import annotations

import numpy

from hasp.statistics.grid import Flags, Grid

COLLAPSED_BELOW = 0.5


def collapsed(grid: Grid) -> Flags:
    """(programs, locks): at the largest size, below half of the lock's own peak."""
    with numpy.errstate(invalid="ignore"):
        flags: Flags = grid.at("max") < COLLAPSED_BELOW * grid.at("opt")
    return flags
