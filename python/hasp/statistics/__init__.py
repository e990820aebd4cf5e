# SPDX-License-Identifier: MIT
"""Pure functions on samples, with the source of each formula."""

from __future__ import annotations

from hasp.statistics.outliers import outliers
from hasp.statistics.ratio import Ratio, ratio_of_medians

__all__ = ["Ratio", "outliers", "ratio_of_medians"]
