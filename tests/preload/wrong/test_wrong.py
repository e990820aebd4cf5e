# SPDX-License-Identifier: MIT
"""Shows that the suite can fail: for each bug of bad_locks.c, a case detects it."""

from __future__ import annotations

import subprocess

import pytest
from preload import matrix

# Seconds until a case counts as hung. A lost wake-up has no other symptom.
HUNG_AFTER = 3.0

# Maps each bug to the program and case that must fail or hang.
NOTICED_BY = {
    "lock-does-nothing": ("exclusion", "two_threads"),
    "trylock-succeeds": ("exclusion", "only_trylock"),
    "timedlock-succeeds": ("timed", "timedlock_held"),
    "clock-ignored": ("timed", "monotonic_arrives"),
    "relock-succeeds": ("kinds", "errorcheck_attribute"),
    "foreign-unlock-succeeds": ("kinds", "recursive_initialiser"),
    "kind-ignored": ("kinds", "recursive_attribute"),
    "lock-allocates": ("memory", "million_idle_mutexes"),
    "memory-kept": ("memory", "contended_and_destroyed"),
    "destroy-succeeds": ("lifetime", "destroy_held"),
    "unlock-looks-back": ("lifetime", "last_unlocker_unmaps"),
    "unlock-by-owner-only": ("ownership", "unlocked_by_another"),
    "signal-lost": ("cond_wakeups", "ping_pong"),
    "broadcast-wakes-one": ("cond_wakeups", "one_broadcast_for_all"),
    "wait-keeps-mutex": ("cond_queue", "signal_one_pair"),
    "wait-looks-back": ("cond_lifetime", "broadcaster_unmaps"),
    "timeout-as-interruption": ("cond_timed", "timedwait_realtime"),
    "timeout-loses-mutex": ("cond_timed", "timedwait_monotonic"),
    "cancel-without-relock": ("cancel_cond", "deferred"),
    "dlopen-changes-caller": ("dlopen", "called_from_a_plugin"),
}


def run(program: str, case: str, bug: str, limit: float) -> matrix.Outcome:
    library = matrix.PROGRAMS / "libbad_locks.so"
    return matrix.run_case(
        program, case, matrix.NATIVE, {"LD_PRELOAD": str(library), "BUG": bug}, limit
    )


@pytest.mark.parametrize("bug", NOTICED_BY)
def test_bug_is_detected(bug: str) -> None:
    program, case = NOTICED_BY[bug]
    outcome = run(program, case, bug, HUNG_AFTER)
    assert outcome.status in ("failed", "hung"), str(outcome)


@pytest.mark.parametrize(("program", "case"), sorted(set(NOTICED_BY.values())))
def test_case_passes_without_a_bug(program: str, case: str) -> None:
    """With the same library, the cases pass if no bug is chosen."""
    outcome = run(program, case, "none", matrix.TIME_LIMIT)
    assert outcome.status == "passed", str(outcome)


def test_banner_is_detected() -> None:
    env = matrix.environment(matrix.NATIVE)
    env["LD_PRELOAD"] = str(matrix.PROGRAMS / "libbad_locks.so")
    env["BUG"] = "banner-on-stdout"
    result = subprocess.run(
        ["/bin/echo", "out"], env=env, capture_output=True, text=True
    )
    assert result.stdout != "out\n"


def test_overtaking_is_detected() -> None:
    """The C library's mutex fails the test of FIFO locks."""
    outcome = matrix.run_case(
        "fifo", "releaser_goes_to_the_end", matrix.NATIVE, {"CHECK_FIFO": "1"}
    )
    assert outcome.status == "failed", str(outcome)
