# SPDX-License-Identifier: MIT
"""Detection of runs that were disturbed by noise on the host.

A study repeats a noisy run up to `noisy_runs` times; then it counts the run as it is
and reports the noise with the results.
"""

from __future__ import annotations

from typing import NamedTuple

from hasp.compare import run_record as record
from hasp.compare.run_record import Run

STEAL_SHARE = 0.05  # of the CPU time
OTHER_SHARE = 0.10
# CPU seconds below which the load of others is not known: the kernel counts a CPU's
# time in ticks of up to 10 ms.
OTHER_AT_LEAST = 0.1


class Noise(NamedTuple):
    """A kind of noise, and its description."""

    kind: str  # steal, quota, heat or other load
    words: str


def noise_of(run: Run) -> Noise | None:
    """The worst noise of a successful run; None without noise and for failures."""
    if run.outcome != record.OK:
        return None
    if run.steal > STEAL_SHARE:
        words = f"the hypervisor took {100 * run.steal:.0f} % of the time"
        return Noise("steal", words)
    if run.throttled:
        return Noise("quota", f"the CPU quota stopped the run {run.throttled} times")
    if run.heated:
        return Noise(
            "heat", f"CPUs were throttled {run.heated} times because they were hot"
        )
    if run.other_load > OTHER_SHARE and run.other_s > OTHER_AT_LEAST:
        words = f"other programs used {100 * run.other_load:.0f} % of the CPU time"
        return Noise("other load", words)
    return None
