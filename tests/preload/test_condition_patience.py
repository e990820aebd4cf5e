# SPDX-License-Identifier: MIT
"""Threads that pass a lock on by a condition variable keep it for many sections.

When a waiter that spun went on as soon as it saw the signal, perl's counter took two to
five times as long as with glibc: its sections alternated between the threads.
"""

from __future__ import annotations

import pytest
from preload import matrix


@pytest.mark.parametrize("lock", ["futex", "auto", "mcs-park"])
def test_sections_do_not_alternate(lock: str) -> None:
    outcome = matrix.run_case("cond_in_turn", "few_waits", matrix.Lock(lock))
    assert outcome.status == "passed", outcome.text
