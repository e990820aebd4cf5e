# SPDX-License-Identifier: MIT
"""The trace shows waits for locks that had looked free, and holds in progress."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from profiler.test_recorder import (
    RECORDER,
    UNUSUAL,
    Recording,
    folder,
    settings,
    used,
)

from hasp.profile.model.build import load
from hasp.profile.model.snapshot import take
from hasp.profile.model.waiting import waiting
from hasp.profile.trace.format import ChunkKind, Operation
from hasp.profile.trace.reader import Trace

__all__ = ["folder"]  # the fixture

DELAYED = UNUSUAL.with_name("libdelayed.so")
ATTEMPTS = 4  # the acquisition may be one of the few that are timed


def delayed(trace: Path) -> dict[str, str]:
    return settings(trace) | {"LD_PRELOAD": f"{RECORDER}:{DELAYED}"}


def seen(
    path: Path, case: str, env: dict[str, str], wanted: Callable[[Path], bool]
) -> bool:
    """Return whether `wanted` becomes true of the trace while the program runs.

    If so, the file `seen` is a copy of the trace at that time.
    """
    process = subprocess.Popen([UNUSUAL, case, "1500"], env=env)
    try:
        while process.poll() is None:
            time.sleep(0.02)
            if not path.exists() or not path.stat().st_size:
                continue
            copy = path.with_name("seen")
            copy.write_bytes(path.read_bytes())
            if Trace(copy).header["sampler_hz"] and wanted(copy):
                return True
    finally:
        process.kill()
        process.wait()
    return False


def somebody_waits(trace: Path) -> bool:
    return bool(Trace(trace).all(ChunkKind.THREADS)["unseen_for"].any())


def test_a_wait_that_looked_like_none_is_found(folder: Path) -> None:
    for attempt in range(ATTEMPTS):
        path = folder / str(attempt)
        if seen(path, "delays", delayed(path), somebody_waits):
            break
    else:
        pytest.fail("no thread was seen waiting")
    hang = waiting(load(folder / "seen"))
    (waiter,) = hang.waiters
    assert waiter.holder is not None
    assert waiter.holder.tid == Trace(folder / "seen").header["pid"]
    assert waiter.thread.tid != waiter.holder.tid
    assert waiter.since_ns > 5e7
    now = take(folder / "seen")
    (stuck,) = (thread for thread in now.threads if thread.waiting_for)
    assert stuck.operation == Operation.LOCK
    assert stuck.held == ()


def test_timed_waits_that_looked_like_none_are_estimated(folder: Path) -> None:
    trace = Recording(folder, "delayed_often", 3, delayed(folder / "t"), UNUSUAL).trace
    stats = used(trace)
    assert stats["contended"].sum() == 0
    assert stats["unseen_waits"].sum() == 3
    profile = load(folder / "t")
    (site,) = profile.sites
    assert site.total is not None
    every_thread = profile.duration_ns * len(profile.threads)
    assert 3 * 0.4e9 <= site.total.unseen_wait_ns < every_thread


def test_waits_that_did_not_happen_are_not_estimated(folder: Path) -> None:
    stats = used(Recording(folder, "counts", 5000, settings(folder / "t")).trace)
    assert stats["unseen_waits"].sum() < 0.05 * stats["acquisitions"].sum()


def holding_s(trace: Path) -> float:
    """Return how long the hold has lasted, in seconds."""
    now = take(trace)
    lasts = [thread.holding(now.now) for thread in now.threads if thread.held]
    return sum(lasts) * now.ns_per_tick / 1e9


def test_a_hold_in_progress_is_in_the_trace(folder: Path) -> None:
    path = folder / "t"
    began = time.monotonic()
    assert seen(path, "holds_long", settings(path), lambda one: holding_s(one) > 0.7)
    assert holding_s(folder / "seen") < time.monotonic() - began
