# SPDX-License-Identifier: MIT
"""Programs whose threads dawdle between any two steps of a lock.

With a build of the library (src/platform/perturbed) in which every atomic access may be
followed by a pause, a yield or a short sleep: what needs a preemption at one certain
instruction happens all the time.
"""

from __future__ import annotations

import pytest
from preload import matrix

# Everything is many times slower than usual.
LIMIT = 60.0
DIVISOR = 10

pytestmark = pytest.mark.timeout(9 * LIMIT)

# Where threads meet in many ways.
CASES = [
    ("cancel_cond", "signal_is_passed_on"),
    ("cond_lifetime", "broadcaster_unmaps_timed"),
    ("cond_queue", "signal_many"),
    ("cond_wakeups", "ping_pong"),
    ("exclusion", "every_way_in"),
    ("fork_storm", "amid_waiting"),
    ("lifetime", "last_unlocker_unmaps"),
    ("ownership", "baton"),
    ("timed_queue", "storm_of_many"),
]


@pytest.mark.parametrize("lock", matrix.lock_parameters(native=False, every=True))
def test_perturbed(lock: matrix.Lock) -> None:
    library = matrix.library().with_name("libhasp-perturbed.so")
    extra = {"CHECK_ROUNDS_DIVISOR": str(DIVISOR)}
    bad = []
    for program, case in CASES:
        outcome = matrix.run_case(program, case, lock, extra, LIMIT, library)
        if outcome.status != "passed":
            bad.append(f"{program} {outcome}")
    if bad:
        pytest.fail("\n".join(bad), pytrace=False)
