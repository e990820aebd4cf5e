# SPDX-License-Identifier: MIT
"""The total lifetime of a trace's threads."""

from __future__ import annotations

import numpy as np

from hasp.profile.trace.format import Records


def lifetime_of(threads: Records, now: int) -> float:
    """Return the sum of all threads' lifetimes in ticks; `now` ends the living ones."""
    began = threads["began"].astype(float)
    ended = np.where(threads["ended"] > 0, threads["ended"], now).astype(float)
    lived = np.where(began > 0, np.maximum(ended - began, 0), 0)
    return float(lived.sum() + threads["earlier_ticks"].sum(dtype=float))
