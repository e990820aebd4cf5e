# SPDX-License-Identifier: MIT
"""The recorder's figures for programs whose lock operations are known exactly."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from lock_list import BUILD

from hasp.profile.trace.format import ChunkKind, End, LockKind, Operation, Records
from hasp.profile.trace.reader import Trace

PROGRAM = BUILD / "tests" / "profiler" / "recorded"
UNUSUAL = PROGRAM.with_name("unusual")
RECORDER = BUILD / "src" / "preload" / "profile" / "libhasp-profile.so"
INTERPOSER = BUILD / "src" / "preload" / "libhasp.so"

Settings = dict[str, str]
SKIPPED = 77
CLOCKS = ("begin", "latest")


def settings(trace: Path, lock: str | None = None, **more: str) -> Settings:
    """Return the environment of a recorded program, under `lock` or glibc's mutex."""
    result = {k: v for k, v in os.environ.items() if not k.startswith("HASP_")}
    preloads = [RECORDER] if lock is None else [RECORDER, INTERPOSER]
    result |= {"LD_PRELOAD": ":".join(map(str, preloads)), "HASP_TRACE": str(trace)}
    return result | ({"HASP_LOCK": lock} if lock else {}) | more


class Recording:
    """A finished run, with its traces by file name and its standard error."""

    def __init__(
        self,
        folder: Path,
        case: str,
        size: int,
        env: Settings,
        program: Path = PROGRAM,
    ) -> None:
        done = subprocess.run(
            [program, case, str(size)],
            env=env,
            capture_output=True,
            text=True,
            timeout=50,
        )
        if done.returncode == SKIPPED:
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        self.said = done.stderr
        self.traces = {path.name: Trace(path) for path in sorted(folder.iterdir())}

    @property
    def trace(self) -> Trace:
        (trace,) = self.traces.values()
        return trace


def acquisitions(trace: Trace) -> list[int]:
    """Return the acquisitions of each mutex, in descending order.

    They are the sums of the lock's record and of the threads' tables.
    """
    locks = trace.numbered(ChunkKind.LOCKS)
    sums = locks["acquisitions"].astype(np.int64)
    counts = trace.all(ChunkKind.LOCK_COUNTS)
    np.add.at(sums, counts["lock"], counts["acquisitions"].astype(np.int64))
    mutexes = sums[locks["kind"] == LockKind.MUTEX]
    return sorted((int(each) for each in mutexes if each), reverse=True)


def used(trace: Trace, operation: Operation = Operation.LOCK) -> Records:
    stats = trace.all(ChunkKind.SITE_STATS)
    return stats[stats["operation"] == operation]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder for traces, which are large; deleted after the test."""
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.mark.parametrize("lock", [None, "futex", "mcs"])
def test_every_acquisition_is_counted(folder: Path, lock: str | None) -> None:
    trace = Recording(folder, "counts", 5000, settings(folder / "t", lock)).trace
    assert trace.doubts == []
    assert acquisitions(trace) == [10000, 5000]
    stats = used(trace)
    assert stats["acquisitions"].sum() == 15000
    assert stats["nested"].sum() == 5000
    assert stats["contended"].sum() == 0
    holds = int(sum(use["hold"]["bucket"].sum() for use in stats))
    assert 10000 < holds < 20000, (
        "each timed hold represents those since the previous one"
    )
    locks = trace.all(ChunkKind.LOCKS)
    assert [bool(each["created_stack"]) for each in locks] == [True, False]
    assert [bool(each["first_stack"]) for each in locks] == [False, True]
    assert trace.header["ended"] == End.EXITED


@pytest.mark.parametrize("lock", [None, "mcs-park"])
def test_every_try_is_counted(folder: Path, lock: str | None) -> None:
    trace = Recording(folder, "trylocks", 6000, settings(folder / "t", lock)).trace
    assert acquisitions(trace) == [6000] + [4] * 3000
    stats = used(trace)
    assert stats["trylocks"].sum() == 5 * 6000
    assert stats["trylock_failures"].sum() == 3 * 6000
    assert stats["longest_failing_run"].max() == 3
    assert stats["nested"].sum() == 2 * 6000
    assert stats["contended"].sum() == 0
    pairs = trace.all(ChunkKind.LOCK_ORDER)
    assert 1000 < len(pairs) < 3000, "some of the pairs are enough if all are new"
    assert (trace.all(ChunkKind.THREADS)["depth"] == 0).all()


def test_a_sample_represents_all(folder: Path) -> None:
    env = settings(folder / "t", HASP_TRACE_MODE="sample")
    trace = Recording(folder, "counts", 300000, env).trace
    first, second = acquisitions(trace)
    assert 400000 < first < 800000
    assert 200000 < second < 400000
    assert trace.all(ChunkKind.THREADS)["timed"].sum() < 100000
    assert 3 < trace.header["sample_of"] < 20000


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_a_wait_is_measured(folder: Path, mode: str) -> None:
    env = settings(folder / "t", HASP_TRACE_MODE=mode)
    trace = Recording(folder, "waits", 1, env).trace
    stats = used(trace)
    (waiter,) = stats[stats["contended"] > 0]
    clock = trace.header["latest"], trace.header["begin"]
    scale = np.diff([float(each["monotonic_ns"]) for each in reversed(clock)]) / (
        np.diff([float(each["ticks"]) for each in reversed(clock)])
    )
    wait_ms = float(waiter["wait_ticks"] * scale[0]) / 1e6
    assert waiter["contended"] == 1
    assert 30 < wait_ms < 5000
    assert waiter["wait"]["bucket"].sum() == 1
    assert waiter["trylocks"] == waiter["trylock_failures"] == 7
    assert waiter["longest_failing_run"] == 7
    assert waiter["handovers"] == 1
    assert waiter["owner_changes"] == 1
    weights = trace.all(ChunkKind.STACK_PROFILE)
    assert weights["waits"].sum() == 1
    assert weights["wait_ticks"].sum() == waiter["wait_ticks"]


def test_the_sampler_sees_a_waiter_and_the_holder(folder: Path) -> None:
    trace = Recording(folder, "waits", 1, settings(folder / "t")).trace
    samples = trace.all(ChunkKind.WAITER_SAMPLES)
    if trace.header["samples"] < 5:
        pytest.skip("other programs leave the sampler no CPU time")
    assert len(samples), "at 100 Hz, the sampler sees a wait of 100 ms"
    assert set(samples["waiters"]) == {1}
    assert 2 in samples["holder"]


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_a_lock_on_its_way_to_the_next_holder_is_waited_for(
    folder: Path, mode: str
) -> None:
    # If a thread loses its CPU, the owner changes without a wait, so a busy host gets
    # further attempts. A recorder that misses such waits fails in all of them.
    shares = []
    for attempt in range(4):
        own = folder / str(attempt)
        own.mkdir()
        env = settings(own / "t", "mcs-park", HASP_TRACE_MODE=mode)
        stats = used(Recording(own, "alternates", 60, env).trace)
        changes = int(stats["owner_changes"].sum())
        assert changes > 10
        shares.append(stats["contended"].sum() / changes)
        if shares[-1] >= 0.8:
            return
    assert max(shares) >= 0.8, shares


def test_many_short_threads_share_records(folder: Path) -> None:
    trace = Recording(folder, "churn", 1500, settings(folder / "t")).trace
    threads = trace.all(ChunkKind.THREADS)
    assert len(threads) <= 257
    assert len(threads) + threads["reused"].sum() == 1501
    assert acquisitions(trace) == [4500]
    assert used(trace)["acquisitions"].sum() == 4500
    assert threads["ended"].all() or (threads["ended"] == 0).sum() == 1


def test_threads_that_share_records_are_counted(folder: Path) -> None:
    trace = Recording(folder, "busy_churn", 600, settings(folder / "t")).trace
    assert len(trace.all(ChunkKind.THREADS)) < 600
    assert acquisitions(trace) == [300000, 150000]
    assert used(trace)["acquisitions"].sum() == 450000
    assert used(trace)["nested"].sum() == 150000


@pytest.mark.parametrize(
    "size", [200, pytest.param(1000, marks=pytest.mark.slow)], ids=str
)
def test_many_threads(folder: Path, size: int) -> None:
    trace = Recording(folder, "crowd", size, settings(folder / "t")).trace
    assert len(trace.all(ChunkKind.THREADS)) == size + 1
    assert acquisitions(trace) == [size]


@pytest.mark.parametrize(
    "size", [20000, pytest.param(1000000, marks=pytest.mark.slow)], ids=str
)
def test_many_locks(folder: Path, size: int) -> None:
    trace = Recording(folder, "mutexes", size, settings(folder / "t")).trace
    assert trace.header["lost_locks"] == 0
    found = acquisitions(trace)
    assert len(found) == size
    assert found == [2] * (size // 2) + [1] * (size // 2)
    assert used(trace)["acquisitions"].sum() == 3 * size // 2
    locks = trace.all(ChunkKind.LOCKS)
    known = locks[locks["created_stack"] != 0]
    assert len(set(known["site"])) == 2


def test_a_full_file_is_reported_once_and_the_program_continues(folder: Path) -> None:
    env = settings(folder / "t", HASP_TRACE_LIMIT=str(2 << 20))
    recording = Recording(folder, "mutexes", 50000, env)
    assert recording.said.count("\n") == 1
    assert "limit" in recording.said
    trace = recording.trace
    assert trace.header["full"] == 2
    assert trace.header["lost_locks"] > 30000
    assert used(trace)["acquisitions"].sum() == 75000
    assert (folder / "t").stat().st_size <= 2 << 20


@pytest.mark.parametrize(
    ("case", "program"), [("limited", PROGRAM), ("limited_later", UNUSUAL)]
)
def test_a_file_size_limit_is_obeyed(folder: Path, case: str, program: Path) -> None:
    recording = Recording(folder, case, 2 << 20, settings(folder / "t"), program)
    assert recording.trace.header["full"] == 2


def test_a_file_size_limit_below_any_trace_spares_the_program(folder: Path) -> None:
    """A larger file would end the program by SIGXFSZ."""
    command = f"ulimit -f 100; exec {PROGRAM} counts 5000"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env=settings(folder / "t"),
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0
    assert "limit of file sizes (ulimit -f) is too low" in done.stderr
    assert not list(folder.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting wants root")
def test_a_full_disk(folder: Path) -> None:
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "hasp-test", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    try:
        recording = Recording(disk, "mutexes", 20000, settings(disk / "t"))
        assert recording.said.count("\n") == 1
        assert "disk is full" in recording.said
        assert recording.trace.header["full"] == 1
        assert used(recording.trace)["acquisitions"].sum() == 30000
        del recording
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_killed_program_leaves_a_trace(folder: Path) -> None:
    env = settings(folder / "t")
    process = subprocess.Popen([PROGRAM, "endless"], env=env)
    try:
        deadline = time.monotonic() + 20
        while not (folder / "t").exists() or not (folder / "t").stat().st_size:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.3)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    trace = Trace(folder / "t")
    assert trace.header["ended"] == End.RUNNING
    (count,) = acquisitions(trace)
    assert count > 1000
    assert trace.header["samples"] > 0
    assert trace.header["sampler_ns"] > 0 or trace.header["samples"] < 20


def test_a_program_whose_first_thread_ends(folder: Path) -> None:
    trace = Recording(folder, "first_ends", 100, settings(folder / "t")).trace
    assert acquisitions(trace) == [100]
    assert trace.header["ended"] == End.EXITED


def test_a_program_that_drops_privileges(folder: Path) -> None:
    folder.chmod(0o700)
    trace = Recording(folder, "gives_up_rights", 100, settings(folder / "t")).trace
    assert acquisitions(trace) == [100]


def test_a_program_that_confines_itself(folder: Path) -> None:
    trace = Recording(folder, "seccomp_filtered", 2000, settings(folder / "t")).trace
    assert trace.header["ended"] == End.EXITED
    assert trace.doubts == []
    assert acquisitions(trace) == [2001] + [2] * 1000 + [1] * 1000


def test_descriptors_may_be_closed(folder: Path) -> None:
    trace = Recording(folder, "closes", 5000, settings(folder / "t")).trace
    assert trace.header["full"] == 0
    assert len(acquisitions(trace)) == 5001


def test_each_process_has_a_file(folder: Path) -> None:
    traces = Recording(folder, "forks", 50, settings(folder / "t")).traces
    assert sorted(traces) == ["t", "t.2"]
    parent, child = traces["t"], traces["t.2"]
    assert acquisitions(parent) == [100]
    assert acquisitions(child) == [50, 50]
    assert child.header["parent_pid"] == parent.header["pid"]
    for trace in (parent, child):
        assert trace.header["pid"] in trace.all(ChunkKind.THREADS)["tid"]
        assert not len(trace.all(ChunkKind.EVENTS))


def test_a_vfork_leaves_the_trace_alone(folder: Path) -> None:
    traces = Recording(folder, "vforks", 50, settings(folder / "t")).traces
    assert sorted(traces) == ["t"]
    assert acquisitions(traces["t"]) == [100]
    assert traces["t"].header["ended"] == End.EXITED


def test_generated_code(folder: Path) -> None:
    trace = Recording(folder, "generated", 50, settings(folder / "t")).trace
    assert acquisitions(trace) == [50]


def test_signal_handlers_may_lock(folder: Path) -> None:
    trace = Recording(folder, "signals", 300, settings(folder / "t")).trace
    assert trace.doubts == []
    assert (trace.all(ChunkKind.THREADS)["depth"] == 0).all()


def test_a_single_thread_that_hardly_locks_is_not_recorded(folder: Path) -> None:
    env = settings(folder / "t")
    subprocess.run(["/bin/true"], env=env, check=True)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_costs_are_measured(folder: Path, mode: str) -> None:
    env = settings(folder / "t", HASP_TRACE_MODE=mode)
    trace = Recording(folder, "counts", 100000, env).trace
    header = trace.header
    (scale, *_) = np.diff([int(header[each]["monotonic_ns"]) for each in CLOCKS]) / (
        np.diff([int(header[each]["ticks"]) for each in CLOCKS])
    )
    threads = trace.all(ChunkKind.THREADS)
    overhead_ns = threads["overhead_ticks"].sum() * scale
    assert 0 < overhead_ns < threads["cpu_ns"].sum()
    assert 0 < header["timed_cost_ps"] < 10**7
    assert 0 < header["stack_cost_ps"] < 10**9
    assert header["counted_cost_ps"] < header["timed_cost_ps"]
    assert 0 < header["pair_cost_ps"] < 10**7


def test_errno_is_left_alone(folder: Path) -> None:
    Recording(folder, "errors", 5000, settings(folder / "t"), UNUSUAL)


@pytest.mark.parametrize("case", ["reborn", "reborn_elsewhere"])
def test_a_lock_at_a_reused_address_has_its_own_counts(folder: Path, case: str) -> None:
    trace = Recording(folder, case, 200, settings(folder / "t"), UNUSUAL).trace
    sums: dict[int, int] = {}
    for use in used(trace):
        site = int(use["site"])
        sums[site] = sums.get(site, 0) + int(use["acquisitions"])
    assert sorted(sums.values()) == [200 * 10, 200 * 30]
