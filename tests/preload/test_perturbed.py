# SPDX-License-Identifier: MIT
"""Runs programs under locks that are delayed at random between any two steps.

In this build of the library (src/platform/perturbed), a pause, a yield or a short sleep
may follow every atomic access, and follows every release. So races that need a
preemption at a particular instruction happen all the time, and so do accesses to a lock
that its last user unmapped after the release.
"""

from __future__ import annotations

import pytest
from preload import matrix

# Everything runs many times slower in this build.
LIMIT = 60.0
DIVISOR = 10

pytestmark = pytest.mark.timeout(15 * LIMIT)

# Cases with many kinds of contention, or that unmap memory as early as possible.
CASES = [
    ("cancel_cond", "signal_is_passed_on"),
    ("cond_lifetime", "broadcaster_unmaps"),
    ("cond_lifetime", "broadcaster_unmaps_timed"),
    ("cond_lifetime", "destroyed_and_overwritten"),
    ("cond_lifetime", "first_woken_unmaps"),
    ("cond_queue", "signal_many"),
    ("cond_wakeups", "ping_pong"),
    ("exclusion", "every_way_in"),
    ("first_contention", "two_waiters_may_leave"),
    ("fork_storm", "amid_waiting"),
    ("lifetime", "freed_without_destroy"),
    ("lifetime", "last_unlocker_unmaps"),
    ("lifetime", "next_holder_unmaps"),
    ("ownership", "baton"),
    ("timed_queue", "storm_of_many"),
]


# Every second case under each lock, alternately, so that each case runs under half of
# the locks; the others are slow.
@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("lock", matrix.lock_parameters(native=False, every=True))
def test_perturbed(lock: matrix.Lock, half: int) -> None:
    library = matrix.library().with_name("libhasp-perturbed.so")
    extra = {"CHECK_ROUNDS_DIVISOR": str(DIVISOR)}
    bad = []
    for program, case in CASES[(matrix.locks().index(lock) + half) % 2 :: 2]:
        outcome = matrix.run_case(program, case, lock, extra, LIMIT, library)
        if outcome.status != "passed":
            bad.append(f"{program} {outcome}")
    if bad:
        pytest.fail("\n".join(bad), pytrace=False)
