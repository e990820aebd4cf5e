# SPDX-License-Identifier: MIT
"""The table of goals in docs/rwlocks.md repeats limits that are checked elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hasp.lab.bench.targets import LEAST, TARGETS
from hasp.locks import native
from hasp.locks.kinds import BARRIER, RWLOCK, SPINLOCK

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import goal_table
import measure_rwlocks
from lock_data import Data

KINDS = {kind.name: kind for kind in (RWLOCK, SPINLOCK, BARRIER)}


@pytest.mark.parametrize("goal", goal_table.MEASURED_GOALS, ids=lambda goal: goal.words)
def test_the_limits_are_those_of_the_benchmark(goal: goal_table.Measured) -> None:
    target = next(
        target
        for target in TARGETS
        if (target.case, target.threads) == (goal.case, goal.threads)
    )
    limit = goal.least if target.sense == LEAST else goal.most
    assert limit == target.limit


@pytest.mark.parametrize("kind", KINDS)
def test_the_algorithms_are_the_defaults(kind: str) -> None:
    assert native.lock(goal_table.DEFAULTS[kind], KINDS[kind]).default


def test_the_simulated_limits_are_those_of_the_tool() -> None:
    assert goal_table.READ_GOALS == measure_rwlocks.GOALS
    assert set(goal_table.MACHINES) == set(measure_rwlocks.MACHINES)


def test_the_default_needs_no_memory_outside_the_lock() -> None:
    lock = native.lock(goal_table.DEFAULTS["rwlock"], RWLOCK)
    assert lock.outside_bytes + lock.node_bytes == 0


def test_a_goal_without_data_has_a_dash() -> None:
    rows = [row for row in goal_table.goals(Data()) if row.startswith("| ")]
    shares = [row for row in rows if row.startswith(("| 100 % |", "| 50 % |"))]
    assert shares == ["| 100 % | - | - | - | - |", "| 50 % | - | - | - | - |"]
    assert any("never contended" in row and "| - | - |" in row for row in rows)


def test_the_memory_is_that_of_the_worst_algorithm() -> None:
    memory = {"a": [{"lock": "a", "bytes": 0}], "b": [{"lock": "b", "bytes": 384}]}
    rows = [row for row in goal_table.goals(Data(memory=memory)) if "never" in row]
    assert "| 0 bytes | 384 | `b` |" in rows[0]
