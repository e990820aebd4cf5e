# SPDX-License-Identifier: MIT
"""Simulated hardware transactions are atomic, isolated, and limited as declared."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

MACHINE = {
    "transactions.read_lines": 400,
    "transactions.write_lines": 50,
    "transactions.nesting": 7,
    "transactions.interrupt": 100000,
}


@pytest.fixture(scope="session")
def run_case(
    build_dir: Path, flatten: Callable[..., Path]
) -> Callable[[str], dict[str, int]]:
    program = str(next(build_dir.rglob("simulated-transactions")))
    machine_file = str(flatten("i7-4770", MACHINE))

    def run(case: str) -> dict[str, int]:
        completed = subprocess.run(
            [program, machine_file, case], capture_output=True, text=True, timeout=30
        )
        assert (completed.returncode, completed.stderr) == (0, "")
        record: dict[str, int] = json.loads(completed.stdout)
        return record

    return run


@pytest.mark.parametrize(
    "case", ["capacity", "nesting", "going-back", "interrupts", "responder-loses"]
)
def test_limits_and_status_codes(
    run_case: Callable[[str], dict[str, int]], case: str
) -> None:
    run_case(case)


def test_no_update_is_lost_to_a_conflict(
    run_case: Callable[[str], dict[str, int]],
) -> None:
    record = run_case("one-counter")
    assert record["commits"] > 0
    assert record["conflicts"] > record["aborts"] / 2 > 0


def test_transactions_on_disjoint_lines_hardly_abort(
    run_case: Callable[[str], dict[str, int]],
) -> None:
    record = run_case("own-counters")
    assert record["conflicts"] == 0
    assert record["commits"] > 100 * record["aborts"]


def test_transactions_are_isolated(
    run_case: Callable[[str], dict[str, int]],
) -> None:
    assert run_case("isolation")["commits"] > 0
