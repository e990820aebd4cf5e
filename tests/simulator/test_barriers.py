# SPDX-License-Identifier: MIT
"""Barriers on a simulated machine, beside glibc's in its published form."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from lock_list import records

PHASES = 20


def phase_ns(build_dir: Path, machine: Path, threads: int) -> dict[str, float]:
    """Return the simulated time of a phase under each algorithm."""
    program = next(build_dir.rglob("hasp-simulate-barriers"))
    completed = subprocess.run(
        [program, machine, str(threads), str(PHASES)], capture_output=True, text=True
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    rows = [json.loads(line) for line in completed.stdout.splitlines()]
    assert all(row["simulated"] for row in rows)
    return {row["barrier"]: row["phase_ns"] for row in rows}


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 48, 60])
def test_every_barrier_of_the_list_runs(
    build_dir: Path, opteron: Path, threads: int
) -> None:
    names = {record["name"] for record in records("barrier")}
    assert phase_ns(build_dir, opteron, threads).keys() == names


def test_barriers_scale_beyond_glibcs(build_dir: Path, opteron: Path) -> None:
    times = phase_ns(build_dir, opteron, 48)
    assert times["dissemination"] < 0.2 * times["glibc"]
    assert max(ns for name, ns in times.items() if name != "glibc") < (
        0.5 * times["glibc"]
    )
