# SPDX-License-Identifier: MIT
"""The verdicts on the mutants of src/structures and src/delegation are complete, and
still hold."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutate_locks import load  # noqa: E402
from mutate_structures import (  # noqa: E402
    RESULTS,
    Build,
    Task,
    all_tasks,
    catch_of,
    caught_by,
    reasons,
)
from mutation_table import still_true  # noqa: E402


@pytest.fixture(scope="module", params=sorted(RESULTS))
def folder(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def tasks(folder: str) -> dict[str, Task]:
    tasks = {task.mutant.key: task for task in all_tasks([])}
    return {key: task for key, task in tasks.items() if key.startswith(f"{folder}/")}


@pytest.fixture(scope="module")
def rows(folder: str, tasks: dict[str, Task]) -> dict[str, dict[str, Any]]:
    """Return the verdicts on functions that have not changed since."""
    current = {key: task.digest for key, task in tasks.items()}
    return still_true(load(RESULTS[folder]), current)


def test_each_mutant_has_a_verdict(
    folder: str, tasks: dict[str, Task], rows: dict[str, dict[str, Any]]
) -> None:
    command = f"tools/mutate_structures.py --results {RESULTS[folder]} {folder}"
    assert not tasks.keys() - rows.keys(), f"run {command}"


def test_each_survivor_has_a_reason(
    folder: str, rows: dict[str, dict[str, Any]]
) -> None:
    known = reasons()
    survivors = {key for key, row in rows.items() if row["outcome"] == "survived"}
    assert not survivors - known.keys()
    ours = {key for key in known if key.startswith(f"{folder}/")}
    assert not ours - survivors, "these are caught now, or exist no longer"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_caught_mutants_are_still_caught(
    build_dir: Path, tasks: dict[str, Task], rows: dict[str, dict[str, Any]]
) -> None:
    build = Build(build_dir)
    catches = {key: catch for key, row in rows.items() if (catch := catch_of(row))}

    def lives(key: str) -> bool:
        return not caught_by(build, tasks[key], catches[key])

    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(catches, pool.map(lives, catches), strict=True))
    assert [key for key, alive in found.items() if alive] == []
