# SPDX-License-Identifier: MIT
"""Runs the programs of spin locks under each of them, and without Hasp."""

from __future__ import annotations

import pytest
from lock_list import records
from preload import matrix

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

PROGRAMS = ("spinlock", "spinlock_shared")
ALGORITHMS = [record["name"] for record in records("spinlock")]


def environment(algorithm: str | None) -> dict[str, str]:
    env = {"HASP_SPINLOCK": algorithm} if algorithm else {}
    if algorithm is None or "park" not in algorithm:
        env["CHECK_ROUNDS_DIVISOR"] = str(matrix.SPINNING_DIVISOR)
    return env


@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: str, algorithm: str | None) -> None:
    lock = matrix.PASS_THROUGH if algorithm else matrix.NATIVE
    outcomes = matrix.run_program(program, lock, environment(algorithm))
    matrix.fail_if_any(outcomes, f"{program} under {algorithm}", matrix.NOT_PASSED)


def test_unknown_algorithm_is_refused() -> None:
    env = environment("no-such-lock")
    outcome = matrix.run_case("spinlock", "two_threads", matrix.PASS_THROUGH, env)
    assert outcome.status == "failed" and "exit status 2" in outcome.text
    assert "HASP_SPINLOCK names an unknown spin lock" in outcome.text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_recorder_sees_a_free_lock(algorithm: str) -> None:
    """A lock is free again after each use, whatever word its algorithm leaves."""
    env = {"HASP_SPINLOCK": algorithm}
    outcome = matrix.run_recorded("spinlock", "results", env)
    assert outcome.status == "passed", str(outcome)
