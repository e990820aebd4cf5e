# SPDX-License-Identifier: MIT
"""No thread waits far longer than with glibc's mutex when threads arrive in step.

Sections are as long as the pauses between them, so threads arrive when others release:
a sleeper that a release wakes finds the lock taken by one that has just arrived.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Simulate = Callable[..., dict[str, Any]]
Flatten = Callable[..., Path]

IN_STEP = (
    *(
        "--threads=16",
        "--cpus=" + ",".join(map(str, range(16))),
        "--seed=1",
        "--duration-ns=20000000",
    ),
    *("cs_ns=20000", "think_ns=20000"),
)


@pytest.mark.parametrize("jitter", [0, 1, 10])
def test_sleepers_woken_in_vain_get_the_lock(
    simulate: Simulate, simulate_published: Simulate, flatten: Flatten, jitter: int
) -> None:
    machine = flatten("i-20")
    arguments = (*IN_STEP, f"jitter_percent={jitter}")
    theirs = simulate_published(machine, "one-lock", "--lock=futex", *arguments)
    ours = simulate(machine, "one-lock", "--lock=futex", *arguments)
    assert ours["longest_gap_ns"] < 8 * theirs["longest_gap_ns"]
    assert ours["throughput_mops"] > theirs["throughput_mops"]


@pytest.mark.parametrize("seed", [4, 16])
def test_two_threads_do_not_keep_auto_from_all_others(
    simulate: Simulate, flatten: Flatten, seed: int
) -> None:
    """Two that took turns kept the lock biased, and all sleepers woke up in vain."""
    run = simulate(
        flatten("opteron-48"),
        "delegation",
        *("--lock=auto", "--threads=48", f"--seed={seed}"),
        *("cs_lines=5", "chained=1", "think_cycles=400"),
    )
    assert sum(count > 0 for count in run["worker_operations"]) > 40
    assert run["jain_fairness"] > 0.2
