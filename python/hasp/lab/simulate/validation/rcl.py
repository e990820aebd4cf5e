# SPDX-License-Identifier: MIT
"""Figure 7c of Lozi et al., "Remote core locking", USENIX ATC 2012.

Cycles of a critical section that accesses one line, with 47 clients, for two delays
between critical sections.
"""

from __future__ import annotations

import statistics
from functools import partial

from hasp.lab.simulate.validation.claim import FITTED, PREDICTED, Claim, Measured
from hasp.lab.simulate.validation.distances import OPTERON
from hasp.lab.simulate.validation.lab import Lab

GROUP = "RCL, figure 7c"
CLIENTS = 47
LONG_DELAY, SHORT_DELAY = 2_000_000, 100  # cycles
# Thirty rounds of sections that take 673,000 cycles, or of delays of 2,000,000 cycles.
DURATION_NS = {SHORT_DELAY: 12_000_000, LONG_DELAY: 30_000_000}

# The published lock, the lock here, contention, delay, cycles and kind. The first row
# determined the grace period, the second one the cold start.
ROWS = (
    ("Spinlock", "spinlock", "high", SHORT_DELAY, 672_889, FITTED),
    ("Spinlock", "spinlock", "low", LONG_DELAY, 1_288, FITTED),
    ("POSIX", "futex", "high", SHORT_DELAY, 73_024, PREDICTED),
    ("POSIX", "futex", "low", LONG_DELAY, 1_826, PREDICTED),
    ("MCS", "mcs", "high", SHORT_DELAY, 63_553, PREDICTED),
    ("MCS", "mcs", "low", LONG_DELAY, 1_457, PREDICTED),
)


def _section(lab: Lab, lock: str, delay: int) -> Measured:
    runs = lab.runs(
        OPTERON,
        "rcl-micro",
        lock,
        CLIENTS,
        {"think_cycles": delay},
        duration_ns=DURATION_NS[delay],
    )
    if delay == LONG_DELAY:
        values = runs.values("operation_mean_ns")
        cycles = [value * runs.mhz / 1000 for value in values]
    else:
        # By Little's law. A mean over completed sections would leave out starving
        # clients; in the paper, every client executes 5,000 sections.
        values = runs.values("throughput_mops")
        cycles = [CLIENTS * runs.mhz / mops - delay for mops in values]
    return Measured(
        statistics.median(cycles),
        min(cycles),
        max(cycles),
        f"Jain's index {runs.value('jain_fairness'):.2f}",
    )


CLAIMS = tuple(
    Claim(
        f"fig7c/{theirs.lower()}/{contention}",
        OPTERON,
        kind,
        f"{theirs}, {contention} contention: a critical section",
        partial(_section, lock=ours, delay=delay),
        cycles,
        cycles,
        "cycles",
        group=GROUP,
    )
    for theirs, ours, contention, delay, cycles, kind in ROWS
)
