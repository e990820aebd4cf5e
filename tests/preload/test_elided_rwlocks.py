# SPDX-License-Identifier: MIT
"""Elided reader-writer locks on a machine without transactions, as test_elision.py.

The programs for reader-writer locks run with emulated transactions, and a few of them
with transactions that software rolls back.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lock_list import Record, wrapped_records
from preload import matrix
from preload.test_plan import symbol
from preload.test_rwlocks import environment

from hasp.locks.site_plan.flatten import flatten
from hasp.locks.site_plan.model import Entry, Module, SitePlan

pytestmark = pytest.mark.timeout(2 * matrix.TIME_LIMIT + 60)

LOCKS = [one for one in wrapped_records("rwlock") if one["name"].startswith("elide+")]
FUTEX = next(lock for lock in LOCKS if lock["name"] == "elide+rw-futex")
PROGRAMS = ("rw_crowded", "rw_exclusion", "rw_fork", "rw_results", "rw_turns")
# In the others, a thread or the process ends in a section, another thread unlocks it,
# or a thread is cancelled at any instruction: a section that was begun never ends.
COMPLETE = ("rw_crowded", "rw_exclusion", "rw_fork")
ALWAYS = "skip=0,sites=0,guard=0"
by_name = pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock["name"]))


def check_sums(counts: dict[str, Any]) -> None:
    assert counts["begins"] == counts["commits"] + sum(counts["aborts"].values())
    times = ("wait", "abort", "commit", "fallback")
    assert counts["spent_ticks"] == sum(counts[f"{one}_ticks"] for one in times)


def settings(lock: Record, back_end: str, folder: Path, more: str = "") -> dict:
    return environment(lock) | {
        "HASP_ELISION": back_end,
        "HASP_ELISION_OPTIONS": more,
        "HASP_ELISION_STATISTICS": str(folder / "counts"),
    }


def total(folder: Path, field: str, complete: bool = True) -> int:
    lines = (folder / "counts").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    for record in records if complete else ():
        check_sums(record)
    return sum(record[field] for record in records)


@by_name
@pytest.mark.parametrize(
    "program",
    [
        *PROGRAMS,
        pytest.param("rw_cancel", marks=pytest.mark.slow),
        pytest.param("rw_lifetime", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "back_end", ["seed:11", pytest.param("script", marks=pytest.mark.slow)]
)
def test_program(program: str, lock: Record, back_end: str, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("commit 5\nconflict+retry 2\ncapacity\n")
    chosen = f"script:{tmp_path / 'script'}" if back_end == "script" else back_end
    extra = settings(lock, chosen, tmp_path)
    outcomes = matrix.run_program(f"rwlocks/{program}", matrix.PASS_THROUGH, extra)
    matrix.fail_if_any(outcomes, f"{program} under {lock['name']}")
    if any(outcome.status == "passed" for outcome in outcomes):
        assert total(tmp_path, "begins", program in COMPLETE) > 0


@by_name
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.slow
def test_without_transactions(program: str, lock: Record) -> None:
    extra = environment(lock) | {"HASP_ELISION": "never"}
    outcomes = matrix.run_program(f"rwlocks/{program}", matrix.PASS_THROUGH, extra)
    matrix.fail_if_any(outcomes, f"{program} under {lock['name']}, not elided")


@by_name
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="undo is for x86-64")
@pytest.mark.parametrize("back_end", ["undo", "undo:3"])
def test_sections_that_are_rolled_back(lock, back_end: str, tmp_path: Path) -> None:
    extra = settings(lock, back_end, tmp_path, ALWAYS)
    outcome = matrix.run_case(
        "elided_rwlocks", "random_sections", matrix.PASS_THROUGH, extra
    )
    if "undo needs Linux" in outcome.text:
        pytest.skip("this kernel cannot dispatch system calls to the process")
    assert outcome.status == "passed", outcome
    assert total(tmp_path, "commits") > 10


@by_name
def test_a_read_section_commits_beside_a_reader(lock: Record, tmp_path: Path) -> None:
    """A writer does not, and neither commits beside a writer."""
    extra = settings(lock, "undo", tmp_path, ALWAYS)
    for case, commits in (("beside_reader", 1), ("beside_writer", 0)):
        (tmp_path / "counts").unlink(missing_ok=True)
        outcome = matrix.run_case("elided_rwlocks", case, matrix.PASS_THROUGH, extra)
        if "undo" in outcome.text:
            pytest.skip(outcome.text)
        assert outcome.status == "passed", outcome
        assert total(tmp_path, "commits") == commits


def test_a_plan_elides_the_rwlocks_of_a_site(tmp_path: Path) -> None:
    program = matrix.PROGRAMS / "elided_rwlocks"
    module, offset = Module(program.name), symbol(program, "lock")[0]
    for lock, elides in (("elide+rw-futex", True), ("rw-ttas", False)):
        entry = Entry.of_global("lock", lock, module, offset, "rwlock")
        (tmp_path / "plan").write_text(flatten(SitePlan((entry,), "glibc")))
        extra = {
            "HASP_PLAN": str(tmp_path / "plan"),
            "HASP_ELISION": "seed:2",
            "HASP_ELISION_STATISTICS": str(tmp_path / "counts"),
        }
        case = "random_sections"
        outcome = matrix.run_case(program.name, case, matrix.PASS_THROUGH, extra)
        assert outcome.status == "passed", outcome
        assert (tmp_path / "counts").exists() == elides
        if elides:
            assert total(tmp_path, "commits") > 10
            (tmp_path / "counts").unlink()


def run_hasp(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hasp", "run", *words],
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("elide+mcs-rw", "only rw-ttas and rw-futex can be elided"),
        ("elide+bravo+rw-futex", "only rw-ttas and rw-futex can be elided"),
        ("elide+glibc", "only rw-ttas and rw-futex can be elided"),
        ("elide+rw-futx", "elide+rw-futex"),
    ],
)
def test_other_rwlocks_are_refused(name: str, words: str) -> None:
    done = run_hasp("--rwlock", name, "--", "true")
    assert done.returncode == 2
    assert words in done.stderr


def test_one_lock_for_all_mutexes_is_refused_beside_it() -> None:
    extra = environment(FUTEX) | {
        "HASP_ELISION": "seed:1",
        "HASP_ELISION_OPTIONS": "scope=global",
    }
    env = matrix.environment(matrix.PASS_THROUGH, extra)
    program = [str(matrix.PROGRAMS / "elided_rwlocks"), "random_sections"]
    done = subprocess.run(program, env=env, capture_output=True, text=True)
    assert done.returncode == 2
    assert "scope=global" in done.stderr
