# SPDX-License-Identifier: MIT
"""A trace records how its process ended, however it ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from profiler.test_recorder import (
    PROGRAM,
    UNUSUAL,
    Recording,
    acquisitions,
    folder,
    settings,
)

from hasp.profile.trace.format import ChunkKind, End

__all__ = ["folder"]  # the fixture
USUAL = ("exits_at_once", "replaced")


def program_of(case: str) -> Path:
    return PROGRAM if case in USUAL else UNUSUAL


@pytest.mark.parametrize("case", ["exits_at_once", "exits_quickly", "exits_by_c11"])
def test_an_exit_that_skips_destructors_is_recorded(folder: Path, case: str) -> None:
    env = settings(folder / "t")
    trace = Recording(folder, case, 100, env, program_of(case)).trace
    assert acquisitions(trace) == [100]
    assert trace.header["ended"] == End.EXITED


def test_a_thread_that_renames_itself_and_lives_until_the_exit(folder: Path) -> None:
    """Pools name their threads after the first lock; roles are told by their names."""
    trace = Recording(folder, "renamed", 100, settings(folder / "t"), UNUSUAL).trace
    names = {bytes(one["name"]) for one in trace.all(ChunkKind.THREADS)}
    assert b"renamed" in names


@pytest.mark.parametrize(
    "case",
    [
        *("replaced", "replaced_by_list", "replaced_by_list_and_path"),
        "replaced_by_list_and_environment",
    ],
)
def test_a_replaced_program(folder: Path, case: str) -> None:
    """The first attempt to exec fails, and the program continues."""
    env = settings(folder / "t")
    trace = Recording(folder, case, 50, env, program_of(case)).trace
    assert acquisitions(trace) == [100]
    assert trace.header["ended"] == End.REPLACED


def test_programs_that_are_spawned_leave_the_trace_alone(folder: Path) -> None:
    traces = Recording(folder, "spawns", 50, settings(folder / "t"), UNUSUAL).traces
    assert sorted(traces) == ["t"]
    assert acquisitions(traces["t"]) == [100]
    assert traces["t"].header["ended"] == End.EXITED


def test_a_daemon_leaves_two_traces(folder: Path) -> None:
    env = settings(folder / "t")
    traces = Recording(folder, "becomes_daemon", 50, env, UNUSUAL).traces
    assert sorted(traces) == ["t", "t.2"]
    assert [acquisitions(trace) for trace in traces.values()] == [[50], [100]]
    for trace in traces.values():
        assert trace.header["ended"] == End.EXITED
