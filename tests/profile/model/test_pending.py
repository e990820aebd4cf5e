# SPDX-License-Identifier: MIT
"""Waits and holds that never end count until the end of the trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_samples import BEGIN, SECOND, Synthetic

from hasp.profile.model.build import load
from hasp.profile.model.profile import Operation, Profile
from hasp.profile.model.totals import statistics_of
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind, End, LockKind
from hasp.profile.trace.reader import Trace

HOLD_BEGINS = BEGIN + SECOND // 10
WAIT_BEGINS = BEGIN + SECOND // 2
HELD, WAITED = 9 * SECOND // 10, SECOND // 2


class Blocked(Synthetic):
    """At the end of the trace, a thread holds a lock and others wait for it."""

    def __init__(
        self,
        waiters: int = 4,
        kind: LockKind = LockKind.MUTEX,
        operation: format.Operation = format.Operation.LOCK,
    ) -> None:
        super().__init__()
        self.set_header(ended=End.EXITED)
        self.site = self.stack(0x1234)
        self.number = self.lock(site=self.site, address=64, kind=kind)
        self.holder = self.thread(
            ended=0, depth=1, held=[self.number], holding_since=HOLD_BEGINS
        )
        for _ in range(waiters):
            self.waiter(operation)

    def waiter(self, operation: format.Operation, **fields: int) -> int:
        wait = {"waiting_for": self.number, "waiting_since": WAIT_BEGINS, "ended": 0}
        return self.thread(**{**wait, "waiting_to": operation, **fields})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hasp.trace"


def read(blocked: Blocked, path: Path) -> Profile:
    return load(blocked.write(path))


def test_waits_that_never_ended_are_counted(path: Path) -> None:
    """One operation of each thread never ended, so no sum includes it."""
    profile = read(Blocked(), path)
    (site,) = profile.sites
    use = site.stats[Operation.LOCK]
    assert (use.acquisitions, use.contended) == (4, 4)
    assert (use.wait.total_ns, use.wait.max_ns) == (4 * WAITED, WAITED)
    assert use.hold.total_ns == HELD
    assert use.wait.quantile(0.5) == pytest.approx(WAITED, rel=0.2)
    assert site.share == pytest.approx((4 * WAITED + HELD) / (5 * SECOND))
    assert profile.section_share == pytest.approx(site.share)
    (lock,) = site.locks
    assert (lock.wait_ns, lock.contended, lock.hold_ns) == (4 * WAITED, 4, HELD)
    assert [thread.wait_ns for thread in profile.threads] == [0, *4 * [WAITED]]
    assert [thread.section_ns for thread in profile.threads] == [HELD, *4 * [WAITED]]
    assert any("had not ended" in warning for warning in profile.warnings)


def test_the_figures_of_a_recorded_run_include_them(path: Path) -> None:
    found = statistics_of(Trace(Blocked().write(path)))
    assert found.spent_ns == 4 * WAITED + HELD
    assert found.wait_max_ns == WAITED


def test_waits_are_found_under_the_stack_they_were_published_with(path: Path) -> None:
    blocked = Blocked(0)
    blocked.waiter(format.Operation.LOCK, stack=blocked.stack(0x4321))
    (weight,) = read(blocked, path).weights
    assert (weight.waits, weight.wait_ns) == (1, WAITED)
    assert weight.stack[0].address == 0x4321


def test_a_wait_inside_of_a_section_is_part_of_it(path: Path) -> None:
    blocked = Blocked(0)
    other = blocked.lock(site=blocked.site, address=128)
    blocked.waiter(
        *(format.Operation.LOCK,), depth=1, held=[other], holding_since=HOLD_BEGINS
    )
    waiter = read(blocked, path).threads[1]
    assert (waiter.wait_ns, waiter.section_ns) == (WAITED, HELD)


def test_the_innermost_hold_counts_too(path: Path) -> None:
    """It is part of the outermost section, but it is a hold of another lock."""
    blocked = Blocked(0)
    inner = blocked.lock(site=blocked.stack(0x9999), address=128)
    blocked.thread(
        ended=0,
        depth=2,
        held=[blocked.number, inner],
        holding_since=HOLD_BEGINS,
        inner_since=WAIT_BEGINS,
    )
    profile = read(blocked, path)
    holds = [lock.hold_ns for site in profile.sites for lock in site.locks]
    assert sorted(holds) == [WAITED, 2 * HELD]
    assert profile.threads[1].section_ns == HELD


def test_waits_for_signals_are_idle_time(path: Path) -> None:
    blocked = Blocked(2, LockKind.CONDITION, format.Operation.WAIT)
    blocked.records[ChunkKind.THREADS] = blocked.records[ChunkKind.THREADS][1:]
    profile = read(blocked, path)
    use = profile.sites[0].stats[Operation.WAIT]
    assert (use.acquisitions, use.contended) == (2, 0)
    assert use.wait.total_ns == 2 * WAITED
    assert profile.section_share == profile.sites[0].share == 0
    assert [thread.idle_ns for thread in profile.threads] == [WAITED, WAITED]
    assert profile.warnings == ()


@pytest.mark.parametrize("writes", [False, True])
def test_a_rwlock_is_held_in_the_mode_of_its_last_acquisition(
    path: Path, writes: bool
) -> None:
    taken = format.Operation.WRITE if writes else format.Operation.READ
    blocked = Blocked(1, LockKind.RWLOCK, format.Operation.WRITE)
    blocked.use(
        site=blocked.site,
        thread=blocked.holder,
        lock_kind=LockKind.RWLOCK,
        operation=taken,
        acquisitions=1,
    )
    stats = read(blocked, path).sites[0].stats
    assert stats[Operation.WRITE].wait.total_ns == WAITED
    assert stats[Operation.WRITE if writes else Operation.READ].hold.total_ns == HELD


def test_a_wait_that_is_also_published_as_a_hold(path: Path) -> None:
    blocked = Blocked(0)
    blocked.thread(
        ended=0,
        depth=1,
        held=[blocked.number],
        unseen_for=blocked.number,
        unseen_since=WAIT_BEGINS,
        holding_since=WAIT_BEGINS,
    )
    waiter = read(blocked, path).threads[1]
    assert (waiter.wait_ns, waiter.section_ns) == (WAITED, WAITED)


def test_waits_that_timed_out_are_part_of_the_time_in_sections(path: Path) -> None:
    """The verdict reports waits; the evidence must not be 0 % in sections."""
    blocked = Blocked(0)
    blocked.thread(wait_ticks=SECOND // 2)
    profile = read(blocked, path)
    assert profile.threads[1].section_ns == SECOND // 2
    assert profile.section_share == pytest.approx((HELD + SECOND / 2) / (2 * SECOND))


def test_ended_threads_do_not_wait(path: Path) -> None:
    blocked = Blocked(0)
    blocked.waiter(format.Operation.LOCK, ended=BEGIN + SECOND)
    assert read(blocked, path).threads[1].wait_ns == 0


def test_damaged_threads_count_for_at_most_the_length_of_the_trace(path: Path) -> None:
    blocked = Blocked(0)
    blocked.waiter(format.Operation.LOCK, waiting_since=0, waiting_for=2**32 - 1)
    blocked.waiter(format.Operation.LOCK, waiting_since=2**64 - 1)
    blocked.waiter(format.Operation.LOCK, depth=2**32 - 1, holding_since=1)
    profile = read(blocked, path)
    waits = [thread.wait_ns for thread in profile.threads]
    assert waits == [0, SECOND, 0, WAITED]
    assert profile.sites[0].stats[Operation.LOCK].wait.total_ns == WAITED
