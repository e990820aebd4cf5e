# SPDX-License-Identifier: MIT
"""The metrics that a measured run has: the program's own, and those of every run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from hasp.compare import recorder
from hasp.compare.run_record import Run
from hasp.compare.settings import Metric
from hasp.study.campaign import THROUGHPUT

CPU_S, PEAK_BYTES, ENERGY_J = "cpu_s", "peak_bytes", "energy_j"
CPU_PER_WORK = "cpu_s_per_op"
TPP = "tpp"  # throughput per power, as the lock study's data sets call it
LESS_IS_BETTER = (
    *(CPU_S, CPU_PER_WORK, PEAK_BYTES, ENERGY_J),
    *recorder.LESS_IS_BETTER,
)
# Neither more nor less of these is better. A program that runs for a fixed time uses
# less CPU time and energy if its lock lets it do less.
DESCRIPTIVE = (CPU_S, ENERGY_J, *recorder.DESCRIPTIVE)


def metrics_of(run: Run) -> dict[str, float]:
    """What was measured; what the host or the program does not tell is not there."""
    values = dict(run.figures)
    if run.wall_s:
        values.setdefault(THROUGHPUT, 1 / run.wall_s)
    if run.user_s is not None and run.system_s is not None:
        values[CPU_S] = run.user_s + run.system_s
    if run.peak_bytes:
        values[PEAK_BYTES] = float(run.peak_bytes)
    if run.energy_j:
        values[ENERGY_J] = run.energy_j
    return {
        name: float(value) for name, value in values.items() if math.isfinite(value)
    }


def with_derived(values: Mapping[str, float], wall_s: float) -> dict[str, float]:
    """The metrics of a run, and those per unit of its work.

    The work is throughput times time; 1 where throughput is that of whole runs.
    """
    found = dict(values)
    work = values.get(THROUGHPUT, 0.0) * wall_s
    if work > 0 and CPU_S in values:
        found.setdefault(CPU_PER_WORK, values[CPU_S] / work)
    if work > 0 and values.get(ENERGY_J):
        # "Lock - Unlock: Is That All?" (ACM TOCS 2019), section 6: operations per
        # second and watt, which are operations per joule.
        found.setdefault(TPP, work / values[ENERGY_J])
    return found


def less_is_better(own: Iterable[Metric]) -> list[str]:
    """The metrics of which less is better: of every run, and of the programs' own."""
    names = {metric.name for metric in own if metric.lower_is_better}
    return sorted({*names, *LESS_IS_BETTER})
