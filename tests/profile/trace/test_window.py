# SPDX-License-Identifier: MIT
"""A window of a recording is the difference between two copies of its trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_samples import BEGIN, SECOND, Synthetic

from hasp.profile.model.build import load
from hasp.profile.model.profile import Operation, Profile
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind
from hasp.profile.trace.window import write_window

MS = 1_000_000


def recording(seconds: int, waits: int, holds: int, longest: int) -> Synthetic:
    """Return a trace of a lock after so many seconds."""
    trace = Synthetic(seconds * SECOND)
    number = seconds * 1000
    trace.set_header(ended=format.End.RUNNING, locks_created=seconds)
    site = trace.stack(0x1000)
    thread = trace.thread(
        tid=11,
        ended=0,
        cpu_ns=number * 10,
        user_ns=number * 7,
        system_ns=number * 3,
        section_ticks=holds * MS,
        voluntary=number,
    )
    trace.add(ChunkKind.BETWEEN, thread=thread, timed=seconds)
    (times,) = trace.records[ChunkKind.BETWEEN][-1]
    times["between"]["bucket"][7] = seconds * 100
    lock = trace.lock(site=site, first_stack=site)
    trace.add(ChunkKind.LOCK_COUNTS, lock=lock, site=site, acquisitions=number)
    trace.use(
        {"wait": [MS] * waits, "hold": [MS] * (holds - 1) + [longest]},
        thread=thread,
        site=site,
        acquisitions=number,
        contended=waits,
        wait_ticks=waits * MS,
        wait_most=MS,
        hold_ticks=holds * MS,
        hold_most=longest,
        timed=holds,
    )
    trace.add(
        ChunkKind.STACK_PROFILE,
        lock=lock,
        stack=site,
        waits=waits,
        wait_ticks=waits * MS,
    )
    for second in range(1, seconds + 1):
        at = BEGIN + second * SECOND
        sample = {"ticks": at - 1, "weight": 1}
        trace.add(ChunkKind.WAITER_SAMPLES, lock=lock, waiters=second, **sample)
        trace.add(ChunkKind.PROCESS_SAMPLES, threads=2, cpu_ns=second * MS, **sample)
    return trace


@pytest.fixture
def window(tmp_path: Path):
    """window(before, after) returns the profile of the difference."""

    def make(before: Synthetic | None, after: Synthetic) -> Profile:
        first = before.write(tmp_path / "before") if before else None
        write_window(first, after.write(tmp_path / "after"), tmp_path / "hasp.trace")
        return load(tmp_path / "hasp.trace")

    return make


def test_sums_are_those_of_the_window(window):
    before, after = recording(2, 5, 10, 80 * MS), recording(5, 45, 30, 80 * MS)
    found = window(before, after)
    assert found.duration_ns == pytest.approx(3 * SECOND)
    assert found.skipped_ns == pytest.approx(2 * SECOND)
    assert found.locks_created == 3
    (site,) = found.sites
    use = site.stats[Operation.LOCK]
    assert (use.acquisitions, use.contended) == (3000, 40)
    assert use.wait.total_ns == 40 * MS
    assert sum(use.wait.counts) == 40
    assert sum(use.hold.counts) == 20
    assert site.locks[0].acquisitions == 3000
    (thread,) = found.threads
    assert (thread.cpu_ns, thread.voluntary) == (30_000, 3000)
    assert (thread.user_ns, thread.system_ns) == (21_000, 9000)
    assert thread.section_ns == 20 * MS
    assert (thread.between.timed, sum(thread.between.counts)) == (3, 300)
    assert found.weights[0].waits == 40
    assert found.section_share == pytest.approx(0.02 / 3, rel=0.01)


def test_the_longest_hold_before_the_window_is_not_in_it(window):
    found = window(recording(2, 5, 10, 80 * MS), recording(5, 45, 30, 80 * MS))
    hold = found.sites[0].stats[Operation.LOCK].hold
    assert MS <= hold.max_ns <= 1.3 * MS


def test_samples_are_those_of_the_window(window):
    found = window(recording(2, 5, 10, MS), recording(5, 45, 30, MS))
    assert [one.waiters for one in found.waiters] == [3, 4, 5]
    assert [one.cpu_ns for one in found.process_samples] == [MS, 2 * MS, 3 * MS]
    assert found.samples == 300


def test_threads_that_ended_before_the_window_are_not_in_it(window):
    before, after = recording(2, 5, 10, MS), recording(5, 45, 30, MS)
    for trace in (before, after):
        trace.thread(tid=12, ended=BEGIN + SECOND, cpu_ns=MS)
    assert [thread.tid for thread in window(before, after).threads] == [11]


def test_a_process_that_began_in_the_window_counts_fully(window):
    found = window(None, recording(2, 5, 10, MS))
    assert found.sites[0].stats[Operation.LOCK].acquisitions == 2000
    assert found.skipped_ns == 0


def test_the_trace_says_that_it_is_a_part(window):
    found = window(recording(2, 5, 10, MS), recording(5, 45, 30, MS))
    assert not found.damaged
    assert found.warnings[0].startswith("the trace covers 3.00 s of the run, beginning")
    assert not any("killed" in one for one in found.warnings)
