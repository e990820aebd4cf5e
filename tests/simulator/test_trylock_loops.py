# SPDX-License-Identifier: MIT
"""Threads that call trylock of `auto` in a loop let its holder have the lock's line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Simulate = Callable[..., dict[str, Any]]
Flatten = Callable[..., Path]


def test_loops_pause(simulate: Simulate, flatten: Flatten) -> None:
    machine = flatten("xeon-80")
    arguments = ("--threads=40", "--duration-ns=3000000", "trylock=1")
    found = {
        lock: simulate(machine, "global-table", f"--lock={lock}", *arguments)
        for lock in ("auto", "futex")
    }
    auto, futex = found["auto"], found["futex"]
    assert auto["throughput_mops"] > 1.5 * futex["throughput_mops"]
    assert auto["jain_fairness"] > 0.9


def test_the_line_moves_once_for_each_of_two_threads(
    simulate: Simulate, simulate_published: Simulate, flatten: Flatten
) -> None:
    """A trylock that only reads the line needs it again to acquire: 0.54 of glibc's."""
    machine = flatten("opteron-48")
    arguments = ("--threads=2", "--cpus=0,1", "--duration-ns=1000000", "trylock=1")
    theirs = simulate_published(machine, "global-table", "--lock=futex", *arguments)
    ours = simulate(machine, "global-table", "--lock=auto", *arguments)
    assert ours["throughput_mops"] > 0.9 * theirs["throughput_mops"]
