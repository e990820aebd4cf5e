# SPDX-License-Identifier: MIT
"""Runs the programs of barriers under each of them, and without Hasp."""

from __future__ import annotations

import pytest
from lock_list import records
from preload import matrix

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

PROGRAM = "barrier"
ALGORITHMS = [record["name"] for record in records("barrier")]


def run(case: str, algorithm: str | None) -> matrix.Outcome:
    lock = matrix.Lock("glibc" if algorithm else None)
    extra = {"HASP_BARRIER": algorithm} if algorithm else {}
    return matrix.run_case(PROGRAM, case, lock, extra)


@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
def test_program(algorithm: str | None) -> None:
    outcomes = [run(case, algorithm) for case in matrix.cases(PROGRAM)]
    bad = [outcome for outcome in outcomes if outcome.status in ("failed", "hung")]
    assert not bad, "\n".join(map(str, bad))


def test_unknown_algorithm_is_refused() -> None:
    outcome = run("two_threads", "no-such-barrier")
    assert outcome.status == "failed" and "exit status 2" in outcome.text
    assert "HASP_BARRIER names an unknown barrier" in outcome.text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_under_the_recorder(algorithm: str) -> None:
    profiler = matrix.BUILD / "src" / "preload" / "profile" / "libhasp-profile.so"
    env = matrix.environment(matrix.Lock("glibc"), {"HASP_BARRIER": algorithm})
    env["LD_PRELOAD"] = f"{profiler}:{env['LD_PRELOAD']}"
    status, text = matrix.run_command([matrix.PROGRAMS / PROGRAM, "three_threads"], env)
    assert status == 0, text
