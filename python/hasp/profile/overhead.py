# SPDX-License-Identifier: MIT
"""What the recorder itself cost, as a trace says."""

from __future__ import annotations

import numpy as np

from hasp.profile.model import Overhead
from hasp.trace.format import Records

COSTS = {"counted": "counted", "timed": "timed", "stacks": "stack"}  # numbers, costs


def own_ns(header: np.void, threads: Records, ns_per_tick: float) -> float:
    """All that recording took: of the threads' time, and in a thread of its own.

    Older traces only have how many operations there were, and what one should cost.
    """
    sampler = float(header["sampler_ns"])
    measured = float(threads["own_ticks"].sum(dtype=float)) * ns_per_tick
    if measured:
        return measured + sampler
    return sampler + sum(
        float(threads[number].sum(dtype=float)) * float(header[f"{cost}_cost_ps"]) / 1e3
        for number, cost in COSTS.items()
    )


def overhead_of(
    header: np.void, threads: Records, ns_per_tick: float, lives_ns: float
) -> Overhead:
    """Its share of the CPU time, where that is known, else of the threads' lives.

    Threads that sleep would make it look smaller than what the others feel.
    """
    spent = own_ns(header, threads, ns_per_tick)
    ran = threads["cpu_ns"].sum(dtype=float) + float(header["sampler_ns"])
    whole = ran if threads["cpu_ns"].any() else lives_ns
    share = min(spent / whole, 1.0) if whole else 0.0
    return Overhead(
        share, *(int(header[f"{cost}_cost_ps"]) / 1000 for cost in COSTS.values())
    )
