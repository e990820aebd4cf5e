# SPDX-License-Identifier: MIT
"""Profiles built from synthetic traces have the expected figures."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest
from trace_samples import BEGIN, SECOND, Synthetic

from hasp.profile.model.build import load
from hasp.profile.model.lock_sums import LockSums
from hasp.profile.model.profile import Kind, Lock, Operation, Origin, Profile, Spot
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind

BASE = 0x400000


class Program(Synthetic):
    """A synthetic program with a module `server` at BASE and two threads."""

    def __init__(self) -> None:
        super().__init__()
        self.add(
            ChunkKind.MODULES,
            begin=BASE,
            end=BASE + 0x10000,
            bias=BASE,
            build_id_bytes=4,
            build_id=[0xDE, 0xAD, 0xBE, 0xEF],
            path=b"/nowhere/server",
        )
        self.main = self.thread(tid=4242, name=b"server", section_ticks=SECOND // 4)
        self.worker = self.thread(tid=4243, ended=0, earlier_ticks=SECOND)

    def place(self, offset: int, caller: int = 0x900) -> int:
        return self.stack(BASE + offset, BASE + caller)


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hasp.trace"


def read(program: Program, path: Path) -> Profile:
    return load(program.write(path))


def test_the_header_becomes_the_program(program: Program, path: Path) -> None:
    profile = read(program, path)
    assert profile.command == ("./server", "--fast")
    assert (profile.executable, profile.pid) == ("/usr/bin/server", 4242)
    assert (profile.lock, profile.mode, profile.cpus) == ("glibc", "full", 4)
    assert profile.duration_ns == SECOND
    assert profile.began == 1_700_000_000
    assert profile.ended
    assert profile.warnings == ()


def test_ticks_are_scaled_by_the_two_readings(program: Program, path: Path) -> None:
    program.header["latest"]["monotonic_ns"] += SECOND  # a tick is 2 ns
    profile = read(program, path)
    assert profile.duration_ns == 2 * SECOND
    assert profile.threads[0].section_ns == SECOND // 2
    assert profile.threads[0].ended_ns == 2 * SECOND


def test_a_clock_without_a_scale_is_a_doubt(program: Program, path: Path) -> None:
    program.header["latest"]["ticks"] = 0
    profile = read(program, path)
    assert any("clock" in warning for warning in profile.warnings)
    assert profile.duration_ns == 0


def test_locks_of_one_location_are_one_site(program: Program, path: Path) -> None:
    """Two callers of one location count as two origins, but as one site."""
    for caller in (0x900, 0x950):
        stack = program.place(0x123, caller)
        lock = program.lock(address=caller, created_stack=stack, site=stack)
        program.use(site=stack, thread=program.main, acquisitions=10, hold_ticks=500)
        program.add(ChunkKind.LOCK_COUNTS, lock=lock, site=stack, acquisitions=10)
    other = program.place(0x456)
    program.lock(address=3, created_stack=other, site=other)
    profile = read(program, path)
    assert [(site.name, len(site.locks)) for site in profile.sites] == [
        ("server+0x123", 2),
        ("server+0x456", 1),
    ]
    site = profile.sites[0]
    assert site.stats[Operation.LOCK].acquisitions == 20
    assert [lock.acquisitions for lock in site.locks] == [10, 10]
    assert [frame.offset for frame in site.created] == [0x123, 0x900]
    assert site.origins == (Origin((Spot("server", "deadbeef", 0x123),), None),)


def test_an_origin_has_all_frames_up_to_the_location_or_none(
    program: Program, path: Path
) -> None:
    """The frames are in several modules, and there are more than a plan can contain."""
    library = {"begin": BASE * 2, "end": BASE * 2 + 999, "bias": BASE * 2}
    program.add(ChunkKind.MODULES, **library, path=b"/lib/libstdc++.so.6")
    outside = program.stack(BASE * 2 + 5, BASE + 0x10, BASE + 0x900)
    deep = program.stack(*(BASE * 2 + n for n in range(6, 10)), BASE + 0x20)
    jit = program.stack(1 << 46, BASE + 0x900)
    for address, stack in enumerate((outside, deep, jit), 1):
        program.lock(address=address, first_stack=stack, site=stack)
    origins = {site.place: site.origins for site in read(program, path).sites}
    spots = (Spot("libstdc++.so.6", "", 5), Spot("server", "deadbeef", 0x10))
    assert origins["server+0x10"] == (Origin(spots, None),)
    assert origins["server+0x20"] == ()
    assert origins[f"{1 << 46:#x}"] == ()


def test_a_mutex_and_a_condition_of_one_location_are_two_sites(
    program: Program, path: Path
) -> None:
    stack = program.place(0x10)
    for kind in (format.LockKind.MUTEX, format.LockKind.CONDITION):
        program.lock(address=int(kind), kind=kind, first_stack=stack, site=stack)
        program.use(site=stack, lock_kind=kind, thread=1, acquisitions=1)
    kinds = {site.kind for site in read(program, path).sites}
    assert kinds == {Kind.MUTEX, Kind.CONDITION}


def test_counts_are_summed_over_threads_by_operation(
    program: Program, path: Path
) -> None:
    stack = program.place(0x10)
    program.lock(address=1, kind=format.LockKind.RWLOCK, first_stack=stack, site=stack)
    rwlock = {"site": stack, "lock_kind": format.LockKind.RWLOCK}
    for thread, durations in ((program.main, [100, 200]), (program.worker, [400])):
        program.use(
            {"wait": durations, "hold": [50] * 3},
            **rwlock,
            operation=format.Operation.READ,
            thread=thread,
            acquisitions=30,
            contended=len(durations),
            wait_ticks=sum(durations),
            wait_most=max(durations),
            hold_ticks=1500,
            hold_most=60,
            longest_failing_run=thread,
        )
    program.use(**rwlock, operation=format.Operation.WRITE, thread=0, acquisitions=5)
    (site,) = read(program, path).sites
    use = site.stats[Operation.READ]
    assert (use.acquisitions, use.contended) == (60, 3)
    assert (use.wait.total_ns, use.wait.max_ns, use.wait.timed) == (700, 400, 3)
    assert use.wait.quantile(1) == 400
    assert (use.hold.number, use.hold.timed, use.hold.mean_ns) == (60, 6, 50)
    assert use.longest_failing_run == 2
    assert site.total is not None
    assert site.total.acquisitions == 65
    assert set(site.threads) == {0, program.main, program.worker}
    assert site.threads[program.worker][Operation.READ].wait.total_ns == 400
    assert Operation.WRITE in site.threads[0]
    with pytest.raises(KeyError):
        site.threads[99]


def test_shares_are_relative_to_the_lifetimes_of_all_threads(
    program: Program, path: Path
) -> None:
    """Two threads live one second; one shares a record with an earlier thread."""
    stack = program.place(0x10)
    program.lock(address=1, first_stack=stack, site=stack)
    program.use(
        site=stack, acquisitions=1, wait_ticks=SECOND // 2, hold_ticks=SECOND // 4
    )
    program.use(
        site=stack,
        operation=format.Operation.WAIT,
        acquisitions=1,
        wait_ticks=SECOND,  # on a condition variable: not in a section
    )
    profile = read(program, path)
    assert profile.section_share == pytest.approx(0.25 / 3)
    assert profile.sites[0].share == pytest.approx(0.75 / 3)


def test_lock_records_and_tables_add_up(program: Program, path: Path) -> None:
    stack = program.place(0x10)
    lock = program.lock(
        address=0x7000,
        first_stack=stack,
        site=stack,
        flags=format.LockFlag.RECURSIVE | format.LockFlag.STATIC,
        acquisitions=7,
        contended=1,
        wait_ticks=70,
        died=BEGIN + 500,
    )
    for _ in range(2):
        program.add(
            ChunkKind.LOCK_COUNTS,
            lock=lock,
            acquisitions=10,
            contended=2,
            wait_ticks=100,
            hold_ticks=30,
            owner_changes=4,
        )
    program.add(ChunkKind.LOCK_COUNTS, lock=0, acquisitions=999)  # an empty slot
    program.add(ChunkKind.LOCK_COUNTS, lock=77, acquisitions=999)  # of an unknown lock
    (made,) = read(program, path).sites[0].locks
    assert (made.acquisitions, made.contended, made.wait_ns) == (27, 5, 270)
    assert (made.hold_ns, made.owner_changes, made.died_ns) == (60, 8, 500)
    assert made.flags == {"recursive", "static"}
    assert made.kind is Kind.MUTEX


def test_the_mean_of_waiters_includes_samples_without_waiters(
    program: Program, path: Path
) -> None:
    """Of 100 samples, ten have 4 waiters and two of weight 5 have one."""
    stack = program.place(0x10)
    busy, calm = (
        program.lock(address=a, first_stack=stack, site=stack) for a in (1, 2)
    )
    for at in range(10):
        program.add(
            ChunkKind.WAITER_SAMPLES, ticks=BEGIN + at, lock=busy, waiters=4, weight=1
        )
    for at in range(2):
        program.add(
            ChunkKind.WAITER_SAMPLES, ticks=BEGIN + at, lock=busy, waiters=1, weight=5
        )
    program.add(ChunkKind.WAITER_SAMPLES, ticks=BEGIN, lock=calm, waiters=9, weight=1)
    profile = read(program, path)
    by_address = {lock.address: lock for lock in profile.sites[0].locks}
    first, second = by_address[1], by_address[2]
    assert first.waiters_mean == pytest.approx(0.5)
    assert (first.waiters_p95, first.waiters_max) == (4, 4)
    assert second.waiters_mean == pytest.approx(0.09)
    assert (second.waiters_p95, second.waiters_max) == (0, 9)
    assert profile.sites[0].waiters_mean == pytest.approx(0.5)
    assert profile.sites[0].waiters_max == 9
    assert len(profile.waiters) == 13


def test_without_samples_the_number_of_waiters_is_unknown(
    program: Program, path: Path
) -> None:
    stack = program.place(0x10)
    program.lock(address=1, first_stack=stack, site=stack)
    program.set_header(samples=0)
    profile = read(program, path)
    assert profile.sites[0].waiters_mean is None
    assert profile.sites[0].locks[0].waiters_p95 is None
    assert any("no samples" in warning for warning in profile.warnings)


def test_waiting_threads_have_the_lock_they_wait_for(
    program: Program, path: Path
) -> None:
    stack = program.place(0x10)
    program.thread(
        tid=9,
        ended=0,
        waiting_for=3,
        waiting_to=format.Operation.LOCK,
        waiting_since=BEGIN + 10,
        depth=2,
        held=[5, 6],
        stack=stack,
    )
    first, _, waiting = read(program, path).threads
    assert (waiting.waiting_for, waiting.waiting_since_ns) == (3, 10)
    assert (waiting.held, waiting.waiting_to) == ((5, 6), Operation.LOCK)
    assert waiting.waiting_stack[0].offset == 0x10
    assert (first.waiting_for, first.held, first.waiting_stack) == (None, (), ())
    assert first.ended_ns == SECOND


def test_threads_that_shared_a_record_count_each(program: Program, path: Path) -> None:
    """The recorder keeps 256 records, and then reuses those of ended threads."""
    program.thread(tid=9, reused=7743)
    profile = read(program, path)
    assert profile.thread_count == 2 + 7744
    assert profile.threads[-1].earlier == 7743


def test_losses_are_reported(program: Program, path: Path) -> None:
    program.set_header(
        ended=format.End.RUNNING, lost_locks=1234, full=2, stopped_by=11, mode=2
    )
    warnings = " ".join(read(program, path).warnings)
    for words in ("1,234 operations were", "size limit", "SIGSEGV", "sampled"):
        assert words in warnings


def test_events_and_weights_are_read(program: Program, path: Path) -> None:
    stack = program.place(0x10)
    program.add(
        ChunkKind.EVENTS,
        kind=format.EventKind.HELD_AT_EXIT,
        ticks=BEGIN + 7,
        thread=1,
        lock=2,
        other=3,
        stack=stack,
        count=4,
    )
    program.add(ChunkKind.EVENTS, kind=99)
    program.add(ChunkKind.STACK_PROFILE, lock=1, stack=stack, waits=2, wait_ticks=5)
    program.add(ChunkKind.STACK_PROFILE, lock=2, stack=stack, holds=3, hold_ticks=50)
    profile = read(program, path)
    (event,) = profile.events
    assert (event.kind, event.at_ns, event.count) == ("held-at-exit", 7, 4)
    assert (event.thread, event.lock, event.other) == (1, 2, 3)
    assert [weight.hold_ns for weight in profile.weights] == [50, 0]
    assert profile.weights[1].stack[0].offset == 0x10


def test_other_processes_of_the_run_are_listed(
    program: Program, tmp_path: Path
) -> None:
    program.write(tmp_path / "hasp.trace.2")
    program.set_header(session=8)
    program.write(tmp_path / "hasp.trace.3")
    (tmp_path / "hasp.trace.4").write_text("no trace")
    program.set_header(session=7)
    profile = read(program, tmp_path / "hasp.trace")
    assert profile.others == (str(tmp_path / "hasp.trace.2"),)
    assert load(tmp_path / "hasp.trace.2").others == (str(tmp_path / "hasp.trace"),)


def test_locks_of_a_site_are_created_on_demand(
    program: Program, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Creating objects for a million locks would take minutes."""
    number = 100_000
    stack = program.place(0x10)
    program.add_many(
        ChunkKind.LOCKS,
        number,
        kind=format.LockKind.MUTEX,
        site=stack,
        first_stack=stack,
        address=np.arange(number) * 64,
        creations=1,
    )
    program.add_many(
        ChunkKind.LOCK_COUNTS,
        number,
        lock=np.arange(1, number + 1),
        acquisitions=3,
        wait_ticks=np.arange(number),
    )
    made: list[int] = []
    make = LockSums.lock

    def counted(self: LockSums, number: int) -> Lock:
        made.append(number)
        return make(self, number)

    monkeypatch.setattr(LockSums, "lock", counted)
    (site,) = read(program, path).sites
    assert len(site.locks) == number
    assert made == []
    assert site.locks[0].wait_ns == number - 1
    assert [lock.wait_ns for lock in site.locks[-2:]] == [1, 0]
    assert len(made) == 3


@pytest.mark.parametrize(
    ("header", "counter", "absent"),
    [
        ({"counter": format.Counter.CACHE_MISSES}, "cache misses", None),
        ({"counter_error": errno.ENOENT}, None, "has no such counter"),
        ({"counter_error": errno.EACCES}, None, "perf_event_paranoid"),
        ({"counter_error": 2**32 - 1, "counter": 99}, None, "nknown"),  # damaged
        ({}, None, "did not count"),
    ],
)
def test_the_counter_or_the_reason_for_none(
    program: Program,
    path: Path,
    header: dict[str, int],
    counter: str | None,
    absent: str | None,
) -> None:
    program.set_header(**header)
    profile = read(program, path)
    assert profile.counter == counter
    assert (profile.counter_absent is None) == (absent is None)
    assert absent is None or absent in str(profile.counter_absent)
