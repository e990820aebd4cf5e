# SPDX-License-Identifier: MIT
"""The mutation score is complete, and mutants that were caught are still caught."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutant_checker import Checker  # noqa: E402
from mutate_locks import RESULTS, Task, all_tasks, load  # noqa: E402
from mutation_table import read_reasons, scores, still_true  # noqa: E402

pytestmark = pytest.mark.slow

# Limit for each client; most mutants are caught within a hundredth of it.
STATES = 1_000_000


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    return {task.mutant.key: task for task in all_tasks([])}


@pytest.fixture(scope="module")
def rows(tasks: dict[str, Task]) -> dict[str, dict[str, Any]]:
    """Return the results that apply to the current files."""
    current = {key: task.digest for key, task in tasks.items()}
    return still_true(load(RESULTS), current)


def test_no_mutant_is_open(
    tasks: dict[str, Task], rows: dict[str, dict[str, Any]]
) -> None:
    found = scores(rows, tasks, read_reasons())
    files = [file for file, score in found.items() if score.open]
    assert not files, f"run tools/mutate_locks.py --survivors {' '.join(files)}"


def test_every_reason_is_for_a_survivor(
    tasks: dict[str, Task], rows: dict[str, dict[str, Any]]
) -> None:
    for key in read_reasons().survivors:
        assert key in tasks, f"a file mutants.toml names {key}, which does not exist"
        assert rows[key]["outcome"] == "survived", f"{key} is now caught"


@pytest.mark.timeout(3600)
def test_caught_mutants_are_still_caught(
    build_dir: Path, tasks: dict[str, Task], rows: dict[str, dict[str, Any]]
) -> None:
    checker = Checker(build_dir)
    reasons = read_reasons()

    def survives(key: str) -> bool:
        mutant, text = tasks[key].mutant, tasks[key].text
        lock = rows[key]["lock"]
        client = rows[key]["client"]
        said = checker.check(lock, mutant.file, mutant.apply(text), STATES, [client])
        return not said.caught_by

    caught = [
        key
        for key, row in rows.items()
        if row["outcome"] == "caught" and not reasons.rule(key)
    ]
    with ThreadPoolExecutor(2) as pool:
        lives = dict(zip(caught, pool.map(survives, caught), strict=True))
    assert [key for key in caught if lives[key]] == []
