# SPDX-License-Identifier: MIT
"""The metrics of a measured run: the program's own, and those common to all runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from hasp.compare import recorder
from hasp.compare.run_record import Run
from hasp.compare.settings import Metric
from hasp.study.campaign import THROUGHPUT

CPU_S, PEAK_BYTES, ENERGY_J = "cpu_s", "peak_bytes", "energy_j"
CPU_PER_WORK = "cpu_s_per_op"
TPP = "tpp"  # throughput per power, the name in the lock study's data sets
LESS_IS_BETTER = (
    *(CPU_S, CPU_PER_WORK, PEAK_BYTES, ENERGY_J),
    *recorder.LESS_IS_BETTER,
)
# Metrics for which neither direction is better. A program that runs for a fixed time
# uses less CPU time and energy if its lock makes it do less work.
DESCRIPTIVE = (CPU_S, ENERGY_J, *recorder.DESCRIPTIVE)


def metrics_of(run: Run) -> dict[str, float]:
    """Return the metrics that were measured; others are missing, not zero."""
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
    """Return the metrics of a run, including those per unit of work.

    The work is throughput times time; it is 1 if the throughput counts runs.
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
    """The metrics whose lower values are better: Hasp's, and those of the programs."""
    names = {metric.name for metric in own if metric.lower_is_better}
    return sorted({*names, *LESS_IS_BETTER})
