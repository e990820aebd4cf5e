# SPDX-License-Identifier: MIT
"""The cost of recording."""

from __future__ import annotations

import numpy as np

from hasp.profile.model.clock import LONGEST_NS
from hasp.profile.model.profile import Overhead
from hasp.profile.trace.format import Records

# operation counts, and their cost fields
COSTS = {"counted": "counted", "timed": "timed", "stacks": "stack"}


def overhead_ns(header: np.void, threads: Records, ns_per_tick: float) -> float:
    """Return the CPU time of recording in ns, in the threads and in the sampler.

    Older traces have no measurement: operation counts are multiplied with calibrated
    costs.
    """
    sampler = float(header["sampler_ns"])
    measured = float(threads["overhead_ticks"].sum(dtype=float)) * ns_per_tick
    if measured:
        return measured + sampler
    return sampler + sum(
        float(threads[number].sum(dtype=float)) * float(header[f"{cost}_cost_ps"]) / 1e3
        for number, cost in COSTS.items()
    )


def overhead_of(
    header: np.void, threads: Records, ns_per_tick: float, lifetime_ns: float
) -> Overhead:
    """Return the CPU time of recording and its share of the program's time.

    The base is the CPU time of all threads, or the run's duration if that is longer:
    recording while a program sleeps does not delay it. Without CPU times the base is
    the sum of the threads' lifetimes.
    """
    spent = overhead_ns(header, threads, ns_per_tick)
    ran = threads["cpu_ns"].sum(dtype=float) + float(header["sampler_ns"])
    run = int(header["latest"]["ticks"]) - int(header["begin"]["ticks"])
    whole = max(ran, run * ns_per_tick) if threads["cpu_ns"].any() else lifetime_ns
    share = min(spent / whole, 1.0) if whole else 0.0
    counted, timed, stack = (
        int(header[f"{cost}_cost_ps"]) / 1000 for cost in COSTS.values()
    )
    spent_ns = round(min(spent, LONGEST_NS))
    pair = int(header["pair_cost_ps"]) / 1000
    return Overhead(share, counted, timed, stack, spent_ns, pair)
