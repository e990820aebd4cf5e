# SPDX-License-Identifier: MIT
"""Runs the programs of spin locks under each of them, and without Hasp."""

from __future__ import annotations

import pytest
from lock_list import records
from preload import matrix

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

PROGRAMS = ("spinlock", "spinlock_shared")
ALGORITHMS = [record["name"] for record in records("spinlock")]


def run(program: str, case: str, algorithm: str | None) -> matrix.Outcome:
    lock = matrix.Lock("glibc" if algorithm else None)
    extra = {"HASP_SPINLOCK": algorithm} if algorithm else {}
    if algorithm is None or "park" not in algorithm:
        extra["CHECK_ROUNDS_DIVISOR"] = str(matrix.SPINNING_DIVISOR)
    return matrix.run_case(program, case, lock, extra)


@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: str, algorithm: str | None) -> None:
    outcomes = [run(program, case, algorithm) for case in matrix.cases(program)]
    bad = [outcome for outcome in outcomes if outcome.status != "passed"]
    assert not bad, "\n".join(map(str, bad))


def test_unknown_algorithm_is_refused() -> None:
    outcome = run("spinlock", "two_threads", "no-such-lock")
    assert outcome.status == "failed" and "exit status 2" in outcome.text
    assert "HASP_SPINLOCK names an unknown spin lock" in outcome.text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_recorder_sees_a_free_lock(algorithm: str) -> None:
    """A lock is free again after each use, whatever word its algorithm leaves."""
    profiler = matrix.BUILD / "src" / "preload" / "profile" / "libhasp-profile.so"
    env = matrix.environment(matrix.Lock("glibc"), {"HASP_SPINLOCK": algorithm})
    env["LD_PRELOAD"] = f"{profiler}:{env['LD_PRELOAD']}"
    status, text = matrix.run_command([matrix.PROGRAMS / "spinlock", "results"], env)
    assert status == 0, text
