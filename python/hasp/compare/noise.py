# SPDX-License-Identifier: MIT
"""What of a run makes it doubtful: noise of the machine while it lasted.

A run is made again when it was noisy; but not for ever: what the plan's `noisy_runs`
have not waited out is measured as it is, and said with the results.
"""

from __future__ import annotations

from typing import NamedTuple

from hasp.compare import run_record as record
from hasp.compare.run_record import Run

STEAL_SHARE = 0.05  # of the CPU time
OTHER_SHARE = 0.10
# The kernel counts a CPU's time in ticks of up to 10 ms: below so many CPU seconds, the
# difference to what our programs used is chance.
OTHER_AT_LEAST = 0.1


class Noise(NamedTuple):
    """What it was."""

    kind: str  # steal, quota, heat or other load
    words: str


def noise_of(run: Run) -> Noise | None:
    """The gravest noise of a good run; failures are told otherwise."""
    if run.outcome != record.OK:
        return None
    if run.steal > STEAL_SHARE:
        return Noise("steal", f"the hypervisor took {run.steal:.0%} of the time")
    if run.throttled:
        return Noise("quota", f"the CPU quota struck {run.throttled} times")
    if run.heated:
        return Noise("heat", f"CPUs were slowed down {run.heated} times, being hot")
    if run.other_load > OTHER_SHARE and run.other_s > OTHER_AT_LEAST:
        words = f"other programs used {run.other_load:.0%} of the CPU time"
        return Noise("other load", words)
    return None
