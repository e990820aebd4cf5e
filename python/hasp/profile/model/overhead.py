# SPDX-License-Identifier: MIT
"""What the recorder itself cost, as a trace says."""

from __future__ import annotations

import numpy as np

from hasp.profile.model.clock import LONGEST_NS
from hasp.profile.model.profile import Overhead
from hasp.profile.trace.format import Records

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
    """Return what recording cost in CPU time, and its share of the program's time.

    That is the CPU time of all threads where it is known, or the duration of the run if
    it is longer: a program that sleeps is not slowed down meanwhile. Without CPU times
    it is the sum of the threads' lifetimes.
    """
    spent = own_ns(header, threads, ns_per_tick)
    ran = threads["cpu_ns"].sum(dtype=float) + float(header["sampler_ns"])
    run = int(header["latest"]["ticks"]) - int(header["begin"]["ticks"])
    whole = max(ran, run * ns_per_tick) if threads["cpu_ns"].any() else lives_ns
    share = min(spent / whole, 1.0) if whole else 0.0
    counted, timed, stack = (
        int(header[f"{cost}_cost_ps"]) / 1000 for cost in COSTS.values()
    )
    return Overhead(share, counted, timed, stack, round(min(spent, LONGEST_NS)))
