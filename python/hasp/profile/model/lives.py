# SPDX-License-Identifier: MIT
"""What the threads of a trace lived together."""

from __future__ import annotations

import numpy as np

from hasp.profile.trace.format import Records


def lives_of(threads: Records, now: int) -> float:
    """Ticks that all threads lived together, up to now."""
    began = threads["began"].astype(float)
    ended = np.where(threads["ended"] > 0, threads["ended"], now).astype(float)
    lived = np.where(began > 0, np.maximum(ended - began, 0), 0)
    return float(lived.sum() + threads["earlier_ticks"].sum(dtype=float))
