# SPDX-License-Identifier: MIT
"""The published forms of locks ensure mutual exclusion, and queue locks are fair."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lock_list import ROOT

from hasp.lab.simulate.validation.distances import ALL
from hasp.lab.simulate.validation.lock_sets import (
    INTERPOSED,
    Form,
    locks_of,
    study_lock,
)

FORMS = sorted(
    set(
        re.findall(
            r'FORM\(\w+, "([^"]+)"', (ROOT / "src/bench/published/list.c").read_text()
        )
    )
)
QUEUES = [
    name
    for name in FORMS
    if re.match(r"(litl-)?(ticket|alock|mcs|clh|twa|hapax)", name)
]
SHORT = ("--warm-up-ns=50000", "--duration-ns=300000")


@pytest.fixture(scope="session")
def published(build_dir: Path, opteron: Path) -> Callable[..., dict[str, Any]]:
    """Return published(*arguments), which returns a run's record on the Opteron."""
    program = str(next(build_dir.rglob("hasp-simulate-published")))

    def run(*arguments: str) -> dict[str, Any]:
        completed = subprocess.run(
            [program, f"--machine={opteron}", "--timeout=50", *arguments, *SHORT],
            capture_output=True,
            text=True,
        )
        assert (completed.returncode, completed.stderr) == (0, "")
        record: dict[str, Any] = json.loads(completed.stdout)
        return record

    return run


# The program itself checks mutual exclusion.
@pytest.mark.parametrize("workload", ["n-locks:3", "one-lock", "oversubscribed"])
@pytest.mark.parametrize("form", FORMS)
def test_a_published_form_ensures_mutual_exclusion(
    published: Callable[..., dict[str, Any]], form: str, workload: str
) -> None:
    arguments = ("jitter_percent=30", f"--lock={form}", f"--workload={workload}")
    cpus = ("--cpus=0-5,10-15,47,42,20,30",) if workload != "oversubscribed" else ()
    record = published(*arguments, "--threads=16", *cpus)
    assert record["operations"] > 16
    if form in QUEUES and workload == "one-lock":
        assert record["jain_fairness"] > 0.9


def test_a_published_form_acquires_a_free_lock_by_trylock(
    published: Callable[..., dict[str, Any]],
) -> None:
    forms = ("spinlock", "ttas", "ticket", "mcs", "futex", "litl-hmcs", "litl-c-bo-mcs")
    forms += ("litl-c-tkt-tkt", "litl-c-ptl-tkt")
    for form in forms:
        words = ("--workload=uncontended", "trylock=1", f"--lock={form}", "--threads=2")
        assert published(*words)["operations"] > 0


@pytest.mark.parametrize("executor", ["rcl", "flat-combining"])
@pytest.mark.parametrize("locks", [1, 3])
def test_a_published_executor_executes_one_section_at_a_time(
    published: Callable[..., dict[str, Any]], executor: str, locks: int
) -> None:
    words = ("--workload=delegation", "--lock=mcs", f"executor={executor}")
    record = published(*words, "jitter_percent=30", f"locks={locks}", "--threads=16")
    assert record["operations"] > 16
    assert record["jain_fairness"] > 0.8  # the server is not among the workers


def test_other_executors_have_no_published_form(build_dir: Path, opteron: Path) -> None:
    program = str(next(build_dir.rglob("hasp-simulate-published")))
    words = ("--workload=delegation", "--lock=mcs", "executor=ffwd", "--threads=4")
    done = subprocess.run(
        [program, f"--machine={opteron}", *words, *SHORT],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "only rcl and flat-combining have a published form" in done.stderr


def test_every_claim_finds_its_published_form() -> None:
    wanted = {
        lock for machine in ALL for lock in locks_of(Form.PUBLISHED, machine).values()
    }
    wanted |= {study_lock(Form.PUBLISHED, name) for name in INTERPOSED}
    assert wanted <= set(FORMS)


@pytest.mark.parametrize("reads", [0, 50, 90, 99, 100])
def test_glibc_s_rwlock_excludes_and_lets_readers_share(
    published: Callable[..., dict[str, Any]], reads: int
) -> None:
    arguments = (f"--workload=readers:{reads}", "--lock=glibc", "cs_lines=2")
    record = published(*arguments, "--threads=8")
    assert record["operations"] > 100
    held = published(*arguments, "--threads=8", "cs_ns=2000")
    together = held["throughput_mops"] * 2000 / 1000
    assert together > 4 if reads == 100 else together < 4
