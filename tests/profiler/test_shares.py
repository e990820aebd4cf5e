# SPDX-License-Identifier: MIT
"""The measured shares of locks in programs that use them in a known way."""

from __future__ import annotations

from pathlib import Path

import pytest
from preload import matrix
from profiler.recorded import Recorded, record

from hasp.profile.model.build import load
from hasp.profile.model.profile import Operation, Profile, Site

pytestmark = pytest.mark.timeout(2 * matrix.TIME_LIMIT)

THREADS, ROUNDS = 4, 10  # of `herd`


def shares(case: str, path: Path, mode: str = "full") -> tuple[Recorded, Profile]:
    found = record("shares", case, None, path, mode)
    return found, load(path)


def site_of(found: Recorded, profile: Profile, name: str) -> Site:
    site = profile.site_of(found.number(name))
    assert site
    return site


def test_wake_ups(tmp_path: Path) -> None:
    found, profile = shares("herd", tmp_path / "trace")
    waits = site_of(found, profile, "condition").stats[Operation.WAIT]
    assert (waits.signals, waits.broadcasts) == (1, ROUNDS)
    assert (waits.woken_by_signal, waits.empty_signals) == (0, 1)
    assert waits.woken_by_broadcast == THREADS * ROUNDS
    # One thread of each round but the last gets the ticket.
    assert waits.futile_wakes == (THREADS - 1) * (ROUNDS - 1)


def test_a_writer_that_waits_for_readers(tmp_path: Path) -> None:
    for attempt in range(5):
        found, profile = shares("starved_writer", tmp_path / f"trace{attempt}")
        site = site_of(found, profile, "rwlock")
        modes, fairness = site.readers_writers, site.fairness
        if modes and fairness:
            break
    assert modes and fairness
    assert modes.writers_for_readers > 0
    assert not modes.readers_for_writer and not modes.writers_for_writer
    # All acquisitions but those of the first and the last sampler period count.
    assert fairness.overtaken and 300 < fairness.overtaken <= 1000
    assert fairness.retaken and 300 < fairness.retaken <= fairness.overtaken
    assert fairness.top_acquisitions and fairness.top_acquisitions > 0.9


def test_a_reader_that_waits_for_a_writer(tmp_path: Path) -> None:
    for attempt in range(5):  # a busy machine may keep the sampler from running
        found, profile = shares("blocked_reader", tmp_path / f"trace{attempt}")
        site = site_of(found, profile, "rwlock")
        if modes := site.readers_writers:
            break
    assert modes
    assert modes.readers_for_writer > 0
    assert not modes.writers_for_readers and not modes.readers_for_readers
    # Between a sample and its counts, the reader may get the lock: its own acquisition.
    assert site.fairness and (site.fairness.overtaken or 0) <= 1


def test_uneven_stripes(tmp_path: Path) -> None:
    found, profile = shares("stripes", tmp_path / "trace")
    site = site_of(found, profile, "mutex")
    stripes, hot = site.stripes, found.number("mutex")
    assert stripes
    assert (stripes.locks, stripes.hottest) == (8, hot)
    # 3/4 of the operations, and an eighth of the others
    assert stripes.hottest_acquisitions == pytest.approx(0.75 + 0.25 / 8, abs=0.01)
    # 40-byte mutexes in an array
    assert any(hot in (line.lock, line.neighbour) for line in site.shared_lines)


def test_the_thread_that_uses_a_lock_most(tmp_path: Path) -> None:
    found, profile = shares("stripes", tmp_path / "trace")
    table = site_of(found, profile, "mutex")
    assert table.fairness
    assert table.fairness.threads in (2, 3)
    assert table.fairness.top_acquisitions == pytest.approx(0.75, abs=0.03)


def test_locks_in_one_cache_line(tmp_path: Path) -> None:
    found, profile = shares("neighbours", tmp_path / "trace")
    one, two = found.number("one"), found.number("two")
    pairs = {
        (line.lock, line.neighbour) for s in profile.sites for line in s.shared_lines
    }
    assert pairs == {(one, two), (two, one)}


def test_time_between_failing_tries(tmp_path: Path) -> None:
    found, profile = shares("tries", tmp_path / "trace")
    use = site_of(found, profile, "mutex").stats[Operation.LOCK]
    assert use.trylock_failures > 1000
    # at most the 200 ms that the mutex is held, less if the thread is preempted
    assert 1e6 < use.trying_ns < 1e9


PAUSES, PAUSE_NS = 100, 1e6  # of the cases below


def test_sleep_between_failing_tries_is_time_spent_trying(tmp_path: Path) -> None:
    found, profile = shares("sleeps_between_tries", tmp_path / "trace")
    use = site_of(found, profile, "mutex").stats[Operation.LOCK]
    assert use.trylock_failures == PAUSES
    assert use.trying_ns >= (PAUSES - 1) * PAUSE_NS


def test_work_between_failing_tries_is_not(tmp_path: Path) -> None:
    found, profile = shares("works_between_tries", tmp_path / "trace")
    use = site_of(found, profile, "mutex").stats[Operation.LOCK]
    assert use.trylock_failures == PAUSES
    assert use.trying_ns < PAUSES * PAUSE_NS / 2
