# SPDX-License-Identifier: MIT
"""Detection of collapse: the program is much slower on a larger part of the machine.

In the lock study ("Lock - Unlock: Is That All?", ACM TOCS 2019, section 4.1), many
locks lose most of their throughput between their best size and the whole machine; the
study recommends looking for that first. It gives no limit: half of the peak is Hasp's
choice.
"""

from __future__ import annotations

import numpy

from hasp.statistics.grid import Flags, Grid

COLLAPSED_BELOW = 0.5


def collapsed(grid: Grid) -> Flags:
    """True where the mean at the largest size is below half of the lock's own peak.

    The shape is (programs, locks).
    """
    with numpy.errstate(invalid="ignore"):
        flags: Flags = grid.at("max") < COLLAPSED_BELOW * grid.at("opt")
    return flags
