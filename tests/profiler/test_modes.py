# SPDX-License-Identifier: MIT
"""The recorder tells CPU time in user mode from that in the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from lock_list import BUILD
from profiler.recording import profile_of

from hasp.profile.model.profile import Thread

PROGRAM = BUILD / "tests" / "profiler" / "modes"
MS = 400  # of CPU time of each thread; 40 ticks of the slowest kernel


def threads(case: str, size: int, folder: Path) -> list[Thread]:
    profile = profile_of([str(PROGRAM), case, str(size)], folder / "t", "full")
    return [one for one in profile.threads if one.tid != profile.pid]


def in_kernel(thread: Thread) -> float:
    assert thread.user_ns is not None
    assert thread.system_ns is not None
    return thread.system_ns / (thread.user_ns + thread.system_ns)


@pytest.mark.parametrize("case", ["ended", "living"])
def test_a_thread_that_computes_and_one_in_system_calls(
    tmp_path: Path, case: str
) -> None:
    found = {thread.name: thread for thread in threads(case, MS, tmp_path)}
    assert in_kernel(found["computes"]) < 0.2
    assert in_kernel(found["calls"]) > 0.8
    for thread in found.values():
        both = (thread.user_ns or 0) + (thread.system_ns or 0)
        assert both == pytest.approx(thread.cpu_ns, rel=0.1)  # living: by 10 ms
        assert thread.cpu_ns >= 0.95e6 * MS


def test_threads_of_one_record_are_added_up(tmp_path: Path) -> None:
    found = threads("churn", 0, tmp_path)
    assert sum(thread.earlier for thread in found) > 20
    both = sum((thread.user_ns or 0) + (thread.system_ns or 0) for thread in found)
    assert both == pytest.approx(sum(thread.cpu_ns for thread in found), rel=0.05)
