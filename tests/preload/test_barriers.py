# SPDX-License-Identifier: MIT
"""Runs the programs of barriers under each of them, and without Hasp."""

from __future__ import annotations

import pytest
from lock_list import records
from preload import matrix

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

PROGRAM = "barrier"
ALGORITHMS = [record["name"] for record in records("barrier")]


@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
def test_program(algorithm: str | None) -> None:
    lock = matrix.PASS_THROUGH if algorithm else matrix.NATIVE
    env = {"HASP_BARRIER": algorithm} if algorithm else {}
    outcomes = matrix.run_program(PROGRAM, lock, env)
    matrix.fail_if_any(outcomes, f"{PROGRAM} under {algorithm}")


def test_unknown_algorithm_is_refused() -> None:
    env = {"HASP_BARRIER": "no-such-barrier"}
    outcome = matrix.run_case(PROGRAM, "two_threads", matrix.PASS_THROUGH, env)
    assert outcome.status == "failed" and "exit status 2" in outcome.text
    assert "HASP_BARRIER names an unknown barrier" in outcome.text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_under_the_recorder(algorithm: str) -> None:
    env = {"HASP_BARRIER": algorithm}
    outcome = matrix.run_recorded(PROGRAM, "three_threads", env)
    assert outcome.status == "passed", str(outcome)
