# SPDX-License-Identifier: MIT
"""The recorder harms neither the program nor its own tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lock_list import ROOT
from profiler.test_recorder import (
    PROGRAM,
    Recording,
    acquisitions,
    folder,
    settings,
    used,
)

from hasp.profile.trace.format import ChunkKind, Operation

__all__ = ["folder"]  # the fixture
SAFETY = PROGRAM.with_name("safety")
RECORDER_SOURCES = ("src/profiler", "src/preload/profile")
CANCELLATION_POINTS = re.compile(
    r"(?<![\w.>])(close|open|openat|read|write|pread|pwrite|nanosleep|usleep|sleep|poll)\("
)
PLAIN_LOSS = re.compile(r"trace->lost_\w+ *(\+\+|\+=)|\+\+trace->lost_")


def sources() -> Iterator[tuple[Path, int, str]]:
    for part in RECORDER_SOURCES:
        for path in sorted((ROOT / part).rglob("*.c")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                yield path, number, line


def test_a_pending_cancellation_does_not_act_inside_the_recorder(folder: Path) -> None:
    env = settings(folder / "t")
    recording = Recording(folder, "pending_cancellation", 100, env, SAFETY)
    assert recording.said == "not cancelled\n"
    assert acquisitions(recording.trace) == [200]


def test_the_recorder_calls_no_cancellation_point() -> None:
    """The recorder calls none directly; its hooks call the real one by `next.`."""
    calls = [
        f"{path.name}:{number}"
        for path, number, line in sources()
        if CANCELLATION_POINTS.search(line)
        and not line.lstrip().startswith(("*", "/*"))
    ]
    assert calls == []


def test_losses_are_counted_by_atomic_additions() -> None:
    assert [
        f"{p.name}:{n}" for p, n, line in sources() if PLAIN_LOSS.search(line)
    ] == []


@pytest.mark.parametrize("case", ["many_threads", "many_threads_stay"])
def test_8000_threads_at_a_time_are_counted(folder: Path, case: str) -> None:
    trace = Recording(folder, case, 8000, settings(folder / "t"), SAFETY).trace
    assert acquisitions(trace) == [80_000]
    assert used(trace)["acquisitions"].sum() == 80_000
    assert used(trace, Operation.BARRIER)["acquisitions"].sum() == 8001
    # 8000 threads, the main thread, and the unused number 0.
    assert len(trace.numbered(ChunkKind.THREADS)) == 8002
    lost = [name for name in trace.header.dtype.names if name.startswith("lost_")]
    assert {name: int(trace.header[name]) for name in lost} == dict.fromkeys(lost, 0)


@pytest.mark.parametrize("limit", ["4000000", "2000000"])
def test_threads_that_had_no_space_in_the_file_are_counted(
    folder: Path, limit: str
) -> None:
    """At the end, the threads' own tables are added to the records of the locks."""
    env = settings(folder / "t", HASP_TRACE_LIMIT=limit)
    trace = Recording(folder, "many_threads_stay", 600, env, SAFETY).trace
    # How many is a matter of timing.
    assert trace.header["lost_lock_counts"] > 0
    assert acquisitions(trace) == [6000]
