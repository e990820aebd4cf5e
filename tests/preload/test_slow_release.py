# SPDX-License-Identifier: MIT
"""Nothing looks at a lock after releasing it, however slow the releaser is to leave.

A lock's last user may unmap it at once. The window between a releasing store and the
end of the release is some instructions wide and hardly ever met, so these run with a
build of the library that has a wider one.
"""

from __future__ import annotations

import pytest
from preload import matrix

pytestmark = pytest.mark.timeout(300)

# Cases in which memory goes away as soon as it may.
CASES = [
    ("lifetime", "last_unlocker_unmaps"),
    ("lifetime", "next_holder_unmaps"),
    ("lifetime", "freed_without_destroy"),
    ("cond_lifetime", "broadcaster_unmaps"),
    ("cond_lifetime", "broadcaster_unmaps_timed"),
    ("cond_lifetime", "destroyed_and_overwritten"),
    ("cond_lifetime", "first_woken_unmaps"),
    ("ownership", "baton"),
    ("first_contention", "two_waiters_may_leave"),
]


@pytest.mark.parametrize("lock", matrix.lock_parameters(native=False, every=True))
def test_slow_release(lock: matrix.Lock) -> None:
    library = matrix.library().with_name("libhasp-wide-window.so")
    bad = []
    for program, case in CASES:
        outcome = matrix.run_case(program, case, lock, interposer=library)
        if outcome.status != "passed":
            bad.append(f"{program} {outcome}")
    if bad:
        pytest.fail("\n".join(bad), pytrace=False)
