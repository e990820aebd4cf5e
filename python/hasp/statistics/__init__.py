# SPDX-License-Identifier: MIT
"""Pure functions on samples, with the source of each formula.

The modules import scipy as a whole, which loads its parts at their first use: loading
scipy.stats takes half a second, which a command that is refused need not spend.
"""

from __future__ import annotations

from hasp.statistics.outliers import outliers
from hasp.statistics.ratio import Ratio, ratio_of_medians

__all__ = ["Ratio", "outliers", "ratio_of_medians"]
