# SPDX-License-Identifier: MIT
"""Transactions that are really rolled back, by software, one at a time.

What an aborted section has done must be undone: memory on the heap, on the stack and in
thread-local storage. The programs check their sums.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from preload import matrix

pytestmark = [
    pytest.mark.timeout(2 * matrix.TIME_LIMIT + 60),
    pytest.mark.skipif(
        os.uname().machine != "x86_64", reason="undo is for x86-64 processors"
    ),
]

FUTEX = matrix.Lock("elide+futex")
ALWAYS = "skip=0,sites=0,guard=0"  # elide again at once after an abort


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def run_counted(program: str, case: str, undo: str, options: str) -> dict[str, Any]:
        extra = {
            "HASP_ELISION": undo,
            "HASP_ELISION_OPTIONS": options,
            "HASP_ELISION_STATISTICS": str(tmp_path / "counts"),
        }
        outcome = matrix.run_case(program, case, FUTEX, extra)
        if "undo needs Linux" in outcome.text:
            pytest.skip("this kernel cannot dispatch system calls to the process")
        assert outcome.status == "passed", outcome
        lines = (tmp_path / "counts").read_text().splitlines()
        counts: dict[str, Any] = json.loads(lines[-1])
        assert counts["begins"] == counts["commits"] + sum(counts["aborts"].values())
        times = ("wait", "abort", "commit", "fallback")
        assert counts["spent_ticks"] == sum(counts[f"{one}_ticks"] for one in times)
        return counts

    return run_counted


@pytest.mark.parametrize("scope", ["fine", "global"])
@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 20))]
)
def test_aborted_sections_leave_nothing(run, seed: int, scope: str) -> None:
    options = f"{ALWAYS},scope={scope}"
    counts = run("undone", "random_sections", f"undo:{seed}", options)
    assert counts["commits"] > 10
    assert counts["aborts"]["conflict"] > 10
    assert not counts["emulated"]


@pytest.mark.parametrize("scope", ["fine", "global"])
def test_without_a_seed_nearly_all_commit(run, scope: str) -> None:
    counts = run("undone", "random_sections", "undo", f"{ALWAYS},scope={scope}")
    assert counts["commits"] > 100
    assert counts["aborts"]["conflict"] == 0


def test_a_system_call_aborts(run) -> None:
    counts = run("undone", "system_calls", "undo", ALWAYS)
    assert (counts["begins"], counts["commits"], counts["acquired"]) == (5, 0, 5)
    assert counts["aborts"]["other"] == 5


def test_a_lock_cascade_and_its_prevention(run) -> None:
    """Seven levels: attempts of 7, 6 ... 1 sections abort, and 7 take their locks.

    That is (N^2 + 3N) / 2 = 35 sections, the thesis's bound. With the memory of nested
    aborts there is one attempt.
    """
    without = run("undone", "cascade", "undo", "skip=0,sites=0,guard=0")
    attempts, acquired = without["begins"], without["acquired"]
    assert (attempts, without["commits"], acquired) == (7, 0, 7)
    assert attempts * (attempts + 1) // 2 + acquired == (7**2 + 3 * 7) // 2
    prevented = run("undone", "cascade", "undo", "skip=0,sites=0")
    assert (prevented["begins"], prevented["guarded"]) == (1, 6)
    whole = run("undone", "cascade", "undo", "skip=0,sites=0,guard=0,scope=global")
    assert whole["begins"] == 1


def test_waiting_prevents_the_lemming_effect(run) -> None:
    """Six sections make a system call, and 90 others could commit beside them."""
    calls, others, options = 6, 90, "tries=1,skip=0,sites=0,guard=0,wait="
    for _ in range(3):
        without = run("lemming", "stampede", "undo", f"{options}0")
        waited = run("lemming", "stampede", "undo", f"{options}1")
        assert waited["elided"] + waited["acquired"] == calls + others
        assert without["aborts"]["other"] >= calls
        if without["aborts"]["busy"] > waited["aborts"]["busy"]:
            return
    pytest.skip("no thread began a section while another one held the lock")


@pytest.mark.parametrize("scope", ["fine", "global"])
def test_what_programs_do_in_sections(scope: str) -> None:
    """Waits, trylocks, recursion, fork and signals; several cases have one thread."""
    extra = {"HASP_ELISION": "undo:3", "HASP_ELISION_OPTIONS": f"scope={scope}"}
    for case in ("nested_in_thread", "wait_in_thread", "in_thread"):
        outcome = matrix.run_case("elision", case, FUTEX, extra)
        if "undo needs Linux" in outcome.text:
            pytest.skip("this kernel cannot dispatch system calls to the process")
        assert outcome.status == "passed", outcome
