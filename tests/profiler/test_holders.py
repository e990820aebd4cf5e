# SPDX-License-Identifier: MIT
"""Tests the sampler's view of holders, in programs with known holders."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest
from preload import matrix
from profiler.recorded import record

from hasp.profile.model.build import load
from hasp.profile.model.holding import HolderState, Holding
from hasp.profile.model.profile import Profile, Site

pytestmark = pytest.mark.timeout(2 * matrix.TIME_LIMIT)

ATTEMPTS = 5
FEWEST = 5  # samples; the sampler takes 20 to 60 in each case
MOSTLY = 0.7


def recorded(
    program: str, case: str, path: Path, name: str = "mutex"
) -> tuple[Profile, Site]:
    """Return the profile of a case, and the site of the lock that it named."""
    found = record(program, case, None, path)
    profile = load(path)
    number = found.number(name)
    site = profile.site_of(number)
    assert site
    return profile, site


def holding_of(case: str, path: Path) -> Holding:
    profile, site = recorded("holders", case, path)
    assert profile.holding_absent is None
    assert site.holding and site.holding.samples >= FEWEST
    return site.holding


STATES = {
    "asleep": (HolderState.ASLEEP, "clock_nanosleep"),
    "reads": (HolderState.IO, "read"),
    "waits_for_lock": (HolderState.LOCK, None),
    "waits_for_event": (HolderState.EVENT, None),
    "futex": (HolderState.FUTEX, "futex"),
}


@pytest.mark.parametrize("case", STATES)
def test_states_of_blocked_holders(case: str, tmp_path: Path) -> None:
    state, call = STATES[case]
    holding = holding_of(case, tmp_path / "trace")
    assert holding.states[0].state is state
    assert holding.share(state) > MOSTLY
    assert holding.states[0].call == call


@pytest.mark.parametrize("case", ["asleep", "reads"])
def test_blocked_holders_are_off_the_cpu_in_the_timeline(
    case: str, tmp_path: Path
) -> None:
    profile, site = recorded("holders", case, tmp_path / "trace")
    numbers = {lock.number for lock in site.locks}
    seen = [sample for sample in profile.waiters if sample.lock in numbers]
    blocked = sum(sample.holders_off_cpu for sample in seen)
    running = sum(sample.holders_on_cpu for sample in seen)
    assert blocked >= FEWEST
    assert blocked > MOSTLY * (blocked + running)


def test_where_a_holder_blocks(tmp_path: Path) -> None:
    holding = holding_of("reads", tmp_path / "trace")
    functions = [frame.function for frame in holding.states[0].stack]
    assert "reads" in functions


def test_the_lock_that_a_holder_waits_for(tmp_path: Path) -> None:
    found = record("holders", "waits_for_lock", None, tmp_path / "trace")
    profile = load(tmp_path / "trace")
    outer, inner = (profile.site_of(found.number(n)) for n in ("mutex", "other"))
    assert outer and inner and outer.holding
    assert outer.holding.states[0].waits_for == inner.number


def test_a_computing_holder_runs_as_long_as_it_has_a_cpu(tmp_path: Path) -> None:
    """Only a holder that had a CPU nearly all the time can be judged by its samples.

    A machine that stops the whole process (a quota, a busy host) stops the sampler too.
    """
    for attempt in range(ATTEMPTS):
        profile, site = recorded("holders", "running", tmp_path / f"trace{attempt}")
        holding = site.holding
        assert holding
        assert holding.share(HolderState.RUNNING, HolderState.READY) > MOSTLY
        cpu = max(thread.cpu_ns for thread in profile.threads) / profile.duration_ns
        if holding.samples >= FEWEST and cpu > 0.8:
            assert holding.share(HolderState.RUNNING) > 0.5
            return
    pytest.skip("the program got too little CPU time")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_a_holder_that_shares_its_cpu_is_preempted(tmp_path: Path) -> None:
    holding = holding_of("preempted", tmp_path / "trace")
    ready, runs = (
        holding.share(state) for state in (HolderState.READY, HolderState.RUNNING)
    )
    assert ready > 0.25  # about half; the scheduler decides
    assert ready + runs > MOSTLY


def executed(case: str, path: Path) -> Holding:
    """Return the holding of a case, repeated on a machine that has no time for it."""
    for attempt in range(3):
        profile, site = recorded("holders", case, path / f"trace{attempt}")
        if profile.functions_absent:
            pytest.skip(profile.functions_absent)
        assert site.holding
        if site.holding.running_samples >= FEWEST:
            return site.holding
    pytest.skip("the program got too little CPU time")


def test_functions_that_holders_execute(tmp_path: Path) -> None:
    holding = executed("running", tmp_path)
    found = {(one.function, one.module): one for one in holding.functions}
    computing = found["compute", "profile_holders"]  # which calls check_spin()
    assert computing.share > MOSTLY and not computing.allocates
    assert holding.allocation_share is not None and holding.allocation_share < 0.2


def test_allocation_by_holders(tmp_path: Path) -> None:
    holding = executed("allocates", tmp_path)
    assert any("malloc" in one.function and one.allocates for one in holding.functions)
    assert holding.allocation_share and holding.allocation_share > 0.4


@pytest.mark.skipif(platform.machine() != "x86_64", reason="decodes x86-64 calls")
def test_cleared_memory_is_allocated(tmp_path: Path) -> None:
    """No stack shows calloc(), because it ends with a jump to memset()."""
    holding = executed("clears", tmp_path)
    assert any(one.function == "calloc" and one.allocates for one in holding.functions)
    assert holding.allocation_share and holding.allocation_share > 0.4


def test_functions_that_hold(tmp_path: Path) -> None:
    _, site = recorded("holders", "functions", tmp_path / "trace")
    long, brief = site.holders
    assert (long.function, brief.function) == ("hold_long", "hold_briefly")
    # Each makes 40; holds are recorded if their threads waited, and some others.
    assert 20 <= long.holds <= 40 and 20 <= brief.holds <= 40
    assert long.share > 2 * brief.share
    assert long.mean_ns and long.mean_ns >= 9e6


NEVER_RELEASED = {
    "never_released": 2e8,  # timed: since the lock was acquired
    # Counted: since the first sample, which a loaded machine takes as late as it likes.
    "not_released_again": 1,
}


@pytest.mark.parametrize("case", NEVER_RELEASED)
def test_a_lock_that_is_never_released(case: str, tmp_path: Path) -> None:
    found = record("holders", case, None, tmp_path / "trace")
    profile = load(tmp_path / "trace")
    (held,) = profile.held_at_end
    assert held.lock == found.number("mutex")
    assert held.waiters == 1
    assert not held.thread_ended
    assert held.duration_ns and held.duration_ns >= NEVER_RELEASED[case]


def test_threads_asleep_for_a_lock_do_not_want_a_cpu(tmp_path: Path) -> None:
    profile, _ = recorded("holders", "asleep", tmp_path / "trace")
    assert profile.runnable is None or profile.runnable < 2


def test_blocked_threads_without_a_recorded_wait(tmp_path: Path) -> None:
    profile, _ = recorded("holders", "futex", tmp_path / "trace")
    foreign = profile.foreign
    assert foreign and profile.foreign_absent is None
    # One of three threads runs; another joins a thread, and one waits for the mutex.
    assert 0 < foreign.blocked < foreign.samples
    assert foreign.modules == {"profile_holders": 1.0}


def test_waits_for_locks_and_joins_are_not_foreign(tmp_path: Path) -> None:
    profile, _ = recorded("holders", "waits_for_lock", tmp_path / "trace")
    assert profile.foreign and profile.foreign.samples and not profile.foreign.blocked
