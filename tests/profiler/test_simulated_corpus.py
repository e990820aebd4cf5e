# SPDX-License-Identifier: MIT
"""On 64 simulated CPUs, the advisor finds the bottleneck of each workload."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from profiler.corpus import Simulated, advice_of, simulated_rows
from profiler.simulated import features

from hasp.locks import native
from hasp.profile.diagnosis.judge import judge
from hasp.profile.diagnosis.rules import load

MACHINE, CPUS, NODES = "a-64", 64, 8

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]
Simulate = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def simulate(hasp: Hasp) -> Simulate:
    def run(*arguments: str) -> dict[str, Any]:
        settings = [f"--machine={MACHINE}", "--locks=mcs", "--duration=1ms", "--json"]
        finished = hasp("simulate", *settings, *arguments)
        assert finished.returncode == 0, finished.stderr
        record: dict[str, Any] = json.loads(finished.stdout)
        return record

    return run


@pytest.fixture(scope="module")
def free_ns(simulate: Simulate) -> float:
    """Return the time to acquire a free lock that another thread held last."""
    found: float = simulate("--workload=uncontended", "--threads=2")["acquire_mean_ns"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("row", simulated_rows(), ids=lambda row: row.name)
def test_names_the_bottleneck(
    row: Simulated, simulate: Simulate, free_ns: float
) -> None:
    run = simulate(*row.arguments)
    verdict = judge(features(run, free_ns, CPUS, NODES), load(), native.locks())
    assert set(verdict.bottlenecks) == row.bottlenecks, verdict.evidence
    assert verdict.locks_matter is bool(row.bottlenecks)
    assert advice_of(verdict) >= row.advice, verdict.sites[0].advice
