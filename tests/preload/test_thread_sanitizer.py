# SPDX-License-Identifier: MIT
"""ThreadSanitizer builds of users' programs work with Hasp's locks.

The sanitizer learns about locks by intercepting the pthread calls, so its runtime must
come before Hasp's library, which its interceptors then call. `hasp run` puts a shared
runtime first; a runtime that is linked into the program comes before any preload
anyway.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import RUN_HASP
from preload import matrix
from preload.matrix import Lock

pytestmark = pytest.mark.timeout(60)

RACE_FOUND = 66


def run_under(lock: Lock, runtime: str, case: str) -> tuple[int, str]:
    """Return the exit status and output of a case, run as a user would run it.

    Address space randomisation is off, because newer kernels map memory where this
    runtime does not allow it.
    """
    program = matrix.PROGRAMS / runtime
    if not program.exists():
        pytest.skip(f"{runtime} is not built: the compiler lacks the sanitizer")
    command = ["setarch", "-R", sys.executable, "-c", RUN_HASP, "run"]
    finished = subprocess.run(
        [*command, "--lock", lock.name or "glibc", "--", program, case],
        env={**os.environ, "TSAN_OPTIONS": f"exitcode={RACE_FOUND}"},
        capture_output=True,
        text=True,
        timeout=50,
    )
    return finished.returncode, finished.stdout + finished.stderr


@pytest.mark.parametrize("lock", matrix.lock_parameters(every=True))
def test_no_report_for_a_correct_program(lock: Lock) -> None:
    assert run_under(lock, "tsan", "locks_and_condvar") == (0, "")


@pytest.mark.parametrize("lock", matrix.lock_parameters())
def test_a_race_is_reported(lock: Lock) -> None:
    status, reports = run_under(lock, "tsan", "wrong_lock_is_taken")
    assert status == RACE_FOUND
    assert "WARNING: ThreadSanitizer: data race" in reports
    assert "mutexes: write M" in reports  # it lists the mutexes held


@pytest.mark.parametrize("lock", matrix.lock_parameters())
def test_a_runtime_inside_the_program(lock: Lock) -> None:
    assert run_under(lock, "tsan_static", "locks_and_condvar") == (0, "")
    status, reports = run_under(lock, "tsan_static", "wrong_lock_is_taken")
    assert status == RACE_FOUND
    assert "mutexes: write M" in reports
