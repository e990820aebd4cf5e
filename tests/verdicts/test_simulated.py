# SPDX-License-Identifier: MIT
"""On 16 and 64 simulated CPUs, the verdict names the cause of each workload's waits.

Simulated runs have no reader-writer locks, no layout of data in cache lines, and no
states of holders, so the causes that need those are only found on real machines.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from verdicts.simulated import NAME, profile_of

from hasp.profile.diagnosis.diagnose import diagnose

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]

MACHINES = {16: "i-20", 64: "a-64"}


@dataclass(frozen=True)
class Row:
    """A workload with one lock, and the algorithm of that."""

    lock: str
    cs_ns: int
    think_ns: int
    threads_per_cpu: int = 1
    parks: bool = True


# Cause -> a workload that has it.
ROWS = {
    "convoy": Row("mcs-park", 500, 2000),
    "long-section": Row("futex", 20_000, 20_000),
    "not-locks": Row("futex", 100, 500_000),
    "spinning": Row("ttas", 500, 2000, threads_per_cpu=2, parks=False),
    "tiny-section": Row("futex", 0, 100),
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
    row = ROWS[cause]
    machine, locks = MACHINES[cpus], f"--locks={row.lock}"
    free = simulate(hasp, machine, locks, "--workload=uncontended", "--threads=2")
    run = simulate(
        hasp,
        machine,
        locks,
        "--workload=" + ("one-lock" if row.threads_per_cpu == 1 else "oversubscribed"),
        f"--threads={cpus * row.threads_per_cpu}",
        f"--cs-ns={row.cs_ns}",
        f"--think-ns={row.think_ns}",
        "--knob=jitter_percent=50",  # without any, threads may take turns in step
    )
    profile = profile_of(run, free["acquire_mean_ns"], cpus, row.parks)
    lead = diagnose(profile).lead
    assert lead.id == cause, diagnose(profile).sentence
    assert lead.subject == ("" if cause == "not-locks" else NAME)
