# SPDX-License-Identifier: MIT
"""On 16 and 64 simulated CPUs, the verdict names the cause of each workload's waits.

Simulated runs have no reader-writer locks, no layout of data in cache lines, and no
states of holders, so the causes that need those are only found on real machines.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from verdicts.simulated import NAME, profile_of

from hasp.profile.diagnosis.diagnose import diagnose

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]

MACHINES = {16: "i-20", 64: "a-64"}
# Cause -> the algorithm, all of which let waiters sleep, and the shape of `one-lock`.
ROWS = {
    "convoy": ("mcs-park", "--cs-ns=500", "--think-ns=2000"),
    "long-section": ("futex", "--cs-ns=20000", "--think-ns=20000"),
    "not-locks": ("futex", "--cs-ns=100", "--think-ns=500000"),
    "tiny-section": ("futex", "--cs-ns=0", "--think-ns=100"),
}


def simulate(hasp: Hasp, machine: str, *arguments: str) -> dict[str, Any]:
    """The figures of one simulated run."""
    settings = ["--machine", machine, "--duration=10ms", "--json"]
    finished = hasp("simulate", *settings, *arguments)
    assert finished.returncode == 0, finished.stderr
    record: dict[str, Any] = json.loads(finished.stdout)
    return record


@pytest.mark.slow
@pytest.mark.parametrize("cpus", MACHINES)
@pytest.mark.parametrize("cause", ROWS)
def test_names_the_cause(cause: str, cpus: int, hasp: Hasp) -> None:
    lock, *shape = ROWS[cause]
    machine, locks = MACHINES[cpus], f"--locks={lock}"
    free = simulate(hasp, machine, locks, "--workload=uncontended", "--threads=2")
    run = simulate(
        hasp, machine, locks, "--workload=one-lock", f"--threads={cpus}", *shape
    )
    profile = profile_of(run, free["acquire_mean_ns"], cpus, parks=True)
    lead = diagnose(profile).lead
    assert lead.id == cause, diagnose(profile).sentence
    assert lead.subject == ("" if cause == "not-locks" else NAME)
