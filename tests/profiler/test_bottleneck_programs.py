# SPDX-License-Identifier: MIT
"""The programs of the corpus run, check their results, and detect a wrong lock."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from lock_list import BUILD
from profiler.corpus import PROGRAM, Row, rows

SECONDS = 0.03

# Two threads that never run at the same time lose no update, so on a busy host more
# than one run is needed to show that a lock does not ensure mutual exclusion.
RACES = 20


def run(
    command: list[str], environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=30,
    )


def cases() -> list[object]:
    """Return all rows; `make test` runs one per bottleneck, as the others mix parts."""
    return [
        pytest.param(row, id=row.name, marks=pytest.mark.slow if row.table17 else ())
        for row in rows()
    ]


@pytest.mark.parametrize("row", cases())
def test_row_runs_and_checks_itself(row: Row) -> None:
    finished = run(row.command(seconds=SECONDS))
    assert finished.returncode == 0, finished.stderr
    report = json.loads(finished.stdout)
    assert report["threads"] == row.threads
    assert report["operations"] > 0
    assert report["operations_per_second"] > 0


def test_names_are_distinguished() -> None:
    names = [row.name for row in rows()]
    assert len(set(names)) == len(names)
    assert sum(row.table17 for row in rows()) == 24


@pytest.mark.parametrize("part", ["hot:hold=500,think=0", "striped:locks=1,hold=500"])
def test_a_lock_without_mutual_exclusion_is_detected(part: str) -> None:
    library = BUILD / "tests" / "programs" / "libbad_locks.so"
    environment = {"LD_PRELOAD": str(library), "BUG": "lock-does-nothing"}
    for _ in range(RACES):
        finished = run([str(PROGRAM), "--seconds=0.1", part], environment)
        if finished.returncode:
            break
    assert finished.returncode == 1
    assert "wanted" in finished.stderr


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["cold"],
        ["hot:grip=1"],
        ["hot:hold=-1"],
        ["hot:hold=x"],
        ["hot", "hot"],
        ["--threads=0", "hot"],
        ["--seconds=0", "hot"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_are_refused(words: list[str]) -> None:
    finished = run([str(PROGRAM), *words])
    assert finished.returncode == 2
    assert finished.stderr.startswith("bottleneck: ")
    assert finished.stdout == ""
