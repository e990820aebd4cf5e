# SPDX-License-Identifier: MIT
"""The metrics that a measured run has: the program's own, and those of every run."""

from __future__ import annotations

import math
from collections.abc import Iterable

from hasp.study import recorder
from hasp.study.campaign import THROUGHPUT
from hasp.study.plan import Metric
from hasp.study.record import Run

CPU_S, PEAK_BYTES = "cpu_s", "peak_bytes"
ENERGY_J = "energy_j"
TPP = "tpp"  # throughput per power, as the lock study's data sets call it
LESS_IS_BETTER = (CPU_S, PEAK_BYTES, ENERGY_J, *recorder.LESS_IS_BETTER)
DESCRIPTIVE = recorder.DESCRIPTIVE  # neither more nor less of them is better


def metrics_of(run: Run) -> dict[str, float]:
    """What was measured; what the host or the program does not tell is not there."""
    values = dict(run.figures)
    if run.wall_s:
        values.setdefault(THROUGHPUT, 1 / run.wall_s)
    if run.user_s is not None and run.system_s is not None:
        values[CPU_S] = run.user_s + run.system_s
    if run.peak_bytes:
        values[PEAK_BYTES] = float(run.peak_bytes)
    if run.energy_j and run.wall_s:
        values[ENERGY_J] = run.energy_j
        # "Lock - Unlock: Is That All?" (ACM TOCS 2019), section 6: operations per
        # second and watt, which are operations per joule.
        values[TPP] = values[THROUGHPUT] * run.wall_s / run.energy_j
    return {
        name: float(value) for name, value in values.items() if math.isfinite(value)
    }


def less_is_better(own: Iterable[Metric]) -> list[str]:
    """The metrics of which less is better: of every run, and of the programs' own."""
    names = {metric.name for metric in own if metric.lower_is_better}
    return sorted({*names, *LESS_IS_BETTER})
