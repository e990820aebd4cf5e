# SPDX-License-Identifier: MIT
"""Measurement of the gain from interleaving memory over all NUMA nodes (rule E5).

The lock study's test for a memory bottleneck ("Lock - Unlock: Is That All?", 8.1.4: pca
gains 44 %) is to run with and without `numactl --interleave=all`.
"""

from __future__ import annotations

import dataclasses
import shutil

from hasp.advise.proof import better, samples
from hasp.base.output import note
from hasp.compare import run_record as record
from hasp.compare.comparison import new_comparison
from hasp.compare.run import ComparisonRunner
from hasp.compare.settings import Settings
from hasp.launch import interpose
from hasp.locks.native import REFERENCE
from hasp.statistics.ratio import FEWEST_PAIRS

NUMACTL = "numactl"
SPREAD = (NUMACTL, "--interleave=all")


def interleave_gain(settings: Settings, nodes: int) -> float | None:
    """The gain as a share: 0 if it is not significant, None if it was not measured."""
    if nodes < 2:
        return None
    if shutil.which(NUMACTL, path=interpose.original_environment().get("PATH")) is None:
        note(f"{NUMACTL} is not installed, so memory is not tested as the bottleneck")
        return None
    note("comparing with memory interleaved over all nodes")
    most = max(settings.threads, key=lambda count: count or 0)
    usual = dataclasses.replace(settings, locks=(REFERENCE,), threads=(most,))
    cell = usual.cells[0]
    plans = (usual, _spread(usual))
    found = tuple(map(new_comparison, plans))
    with ComparisonRunner(plans[0]) as here, ComparisonRunner(plans[1]) as everywhere:
        pairs = list(zip((here, everywhere), found, strict=True))
        for block in range(1 - settings.warmup, settings.runs + 1):
            for runner, comparison in pairs if block % 2 else reversed(pairs):
                run = runner.run(block, cell)
                if run.outcome != record.OK:
                    how = f" with {' '.join(SPREAD)}" if runner is everywhere else ""
                    note(f"the command failed{how}: {run.detail}")
                    return None
                comparison.runs.append(run)
    near, far = (samples(comparison, cell) for comparison in found)
    ratio = better(far, near, less_is_better=found[0].primary.lower_is_better)
    # With fewer pairs the interval covers too little to prove anything.
    sure = ratio is not None and ratio.blocks >= FEWEST_PAIRS and ratio.above
    return ratio.value - 1 if ratio and sure else 0.0


def _spread(settings: Settings) -> Settings:
    """The settings with the memory of the program, or of the server, interleaved."""
    if settings.server is None:
        return dataclasses.replace(settings, command=(*SPREAD, *settings.command))
    return dataclasses.replace(settings, server=f"{' '.join(SPREAD)} {settings.server}")
