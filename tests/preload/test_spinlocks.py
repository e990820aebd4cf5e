# SPDX-License-Identifier: MIT
"""Runs the program `spinlock` under every spin lock of the list, and without Hasp."""

from __future__ import annotations

import pytest
from lock_list import records
from preload import matrix

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

PROGRAM = "spinlock"
ALGORITHMS = [record["name"] for record in records("spinlock")]


def run(case: str, algorithm: str | None) -> matrix.Outcome:
    lock = matrix.Lock("glibc" if algorithm else None)
    extra = {"HASP_SPINLOCK": algorithm} if algorithm else {}
    if algorithm is None or "park" not in algorithm:
        extra["CHECK_ROUNDS_DIVISOR"] = str(matrix.SPINNING_DIVISOR)
    return matrix.run_case(PROGRAM, case, lock, extra)


@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
@pytest.mark.parametrize("case", matrix.cases(PROGRAM))
def test_case(case: str, algorithm: str | None) -> None:
    outcome = run(case, algorithm)
    assert outcome.status == "passed", str(outcome)


def test_unknown_algorithm_is_refused() -> None:
    outcome = run("two_threads", "no-such-lock")
    assert outcome.status == "failed" and "exit status 2" in outcome.text
    assert "HASP_SPINLOCK names an unknown spin lock" in outcome.text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_recorder_sees_a_free_lock(algorithm: str) -> None:
    """A lock is free again after each use, whatever word its algorithm leaves."""
    profiler = matrix.BUILD / "src" / "preload" / "profile" / "libhasp-profile.so"
    env = matrix.environment(matrix.Lock("glibc"), {"HASP_SPINLOCK": algorithm})
    env["LD_PRELOAD"] = f"{profiler}:{env['LD_PRELOAD']}"
    status, text = matrix.run_command([matrix.PROGRAMS / PROGRAM, "results"], env)
    assert status == 0, text
