# SPDX-License-Identifier: MIT
"""The locks under Relacy, a second checker: it accepts them and rejects seeded bugs."""

from __future__ import annotations

import subprocess

import pytest
from lock_list import BUILD, records

PROGRAM = BUILD / "tests/explorer/relacy-checked"
SPINNING = ("ttas", "ticket", "mcs", "clh", "hemlock", "reciprocating", "hapax", "twa")
EVERY_LOCK = [record["name"] for record in records() if record["name"] != "glibc"]

pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(), reason="Relacy is not installed (Debian: relacy-dev)"
)


def run(
    lock: str, client: str, search: str, executions: int
) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, lock, client, search, str(executions)]
    return subprocess.run(command, capture_output=True, text=True, timeout=55)


def test_a_spinlock_is_searched_completely() -> None:
    done = run("ttas", "pair", "full", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ok after ")


@pytest.mark.parametrize("lock", SPINNING)
@pytest.mark.parametrize("client", ["exclusion", "trylock"])
def test_locks_are_accepted(lock: str, client: str) -> None:
    done = run(lock, client, "random", 2000)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("bug", "verdict"),
    [
        ("TAIL_RELAXED", "DATA RACE"),
        ("WAIT_RELAXED", "DATA RACE"),
        ("LAST_RELAXED", "DATA RACE"),
        ("GRANT_RELAXED", "DATA RACE"),
        ("GRANT_FORGOTTEN", "LIVELOCK"),
    ],
)
def test_seeded_bugs_are_rejected(bug: str, verdict: str) -> None:
    done = run(f"wrong-{bug}", "pair", "bound", 1)
    assert done.returncode == 1 and done.stdout.startswith(verdict), done.stdout


def test_the_queue_lock_without_a_bug_is_accepted() -> None:
    done = run("wrong-NONE", "pair", "bound", 1)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("lock", EVERY_LOCK)
@pytest.mark.parametrize("client", ["exclusion", "trylock", "timeout", "queue"])
def test_every_lock_is_accepted(lock: str, client: str) -> None:
    done = run(lock, client, "random", 5000)
    assert done.returncode == 0, done.stdout + done.stderr
