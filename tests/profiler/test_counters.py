# SPDX-License-Identifier: MIT
"""Perf events count cache misses in critical sections.

Page faults stand for cache misses: every machine can count them, and a program can
cause as many as it likes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from profiler.test_recorder import (
    UNUSUAL,
    Recording,
    acquisitions,
    folder,
    settings,
    used,
)

from hasp.base import system_calls
from hasp.profile.model.build import load
from hasp.profile.trace.format import Counter

__all__ = ["folder"]  # the fixture

needs_events = pytest.mark.skipif(
    bool(system_calls.software_events()), reason="perf events cannot be opened here"
)


@needs_events
@pytest.mark.parametrize("mode", ["full", "sample"])
def test_page_faults_in_sections_are_counted(folder: Path, mode: str) -> None:
    env = settings(folder / "t", HASP_TRACE_COUNTER="page-faults", HASP_TRACE_MODE=mode)
    trace = Recording(folder, "faults", 3000, env, UNUSUAL).trace
    assert trace.header["counter"] == Counter.PAGE_FAULTS
    (use,) = used(trace)
    assert use["counted_sections"] > 100
    assert 3 <= use["cache_misses"] / use["counted_sections"] < 3.1
    profile = load(folder / "t")
    assert profile.counter == "page faults"
    assert profile.counter_absent is None
    (site,) = profile.sites
    assert site.total is not None
    assert site.total.cache_misses == pytest.approx(3, abs=0.1)


@needs_events
def test_a_program_may_close_the_counters(folder: Path) -> None:
    """The recorder does not read files that reuse the closed descriptors."""
    env = settings(folder / "t", HASP_TRACE_COUNTER="page-faults")
    Recording(folder, "closes_counters", 2000, env, UNUSUAL)


@needs_events
def test_counters_leave_the_program_its_descriptors(folder: Path) -> None:
    """A file for each thread would be more than the program may have."""
    env = settings(folder / "t", HASP_TRACE_COUNTER="page-faults")
    trace = Recording(folder, "crowded_counters", 10, env, UNUSUAL).trace
    assert used(trace)["counted_sections"].sum() > 0


def test_without_a_counter_the_trace_gives_the_reason(folder: Path) -> None:
    trace = Recording(folder, "counts", 500, settings(folder / "t")).trace
    if trace.header["counter"]:
        assert used(trace)["counted_sections"].sum() > 0
        return
    assert trace.header["counter_error"]
    assert used(trace)["counted_sections"].sum() == 0
    profile = load(folder / "t")
    assert profile.counter is None
    assert profile.counter_absent
    assert all(site.total.cache_misses is None for site in profile.sites if site.total)
    assert acquisitions(trace) == [1000, 500]
