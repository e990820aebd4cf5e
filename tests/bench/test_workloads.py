# SPDX-License-Identifier: MIT
"""hasp-workloads runs each workload with locks of all kinds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lock_list import records, representatives
from refusals import assert_refuses

# Arguments that change the behaviour of a workload.
UNDER_LOCKS = (
    ("one-lock",),
    ("one-lock", "--threads=1", "cs_lines=0", "drain=0"),
    ("one-lock", "--threads=3", "cs_lines=4", "cs_ns=100", "jitter_percent=50"),
    ("delegation",),
    ("delegation", "executor=adaptive", "cs_lines=5"),
    ("n-locks:16",),
    ("hash-table",),
    ("hash-table:12", "elements=48", "put_percent=40", "remove_percent=40"),
    ("barrier", "--threads=3"),
    ("barrier", "--threads=3", "watch=1"),
    ("pipeline", "--threads=2"),
    ("pipeline:3", "--threads=4", "capacity=1"),
    ("oversubscribed",),
    ("uncontended",),
    ("uncontended", "trylock=1"),
    ("uncontended", "--threads=1", "cs_lines=1"),
    ("rcl-micro", "cs_lines=5"),
    ("task-queue",),
    ("task-queue:0", "--threads=3", "tasks=1", "work_cycles=100"),
    ("grid:8",),
    ("grid:3", "--threads=3"),
    ("global-table",),
    ("global-table:8", "stripes=3", "trylock=1"),
    ("allocator:1", "--threads=3"),
    ("allocator",),
    ("unique-id",),
    ("page-cache:8", "pages=40", "work_cycles=100", "--threads=3"),
    ("page-cache",),
    ("short-lived:5", "--threads=3"),
    ("long-lived",),
    ("bank:20", "atomic_by=locks", "read_percent=10", "--threads=3"),
)
UNDER_RWLOCKS = (
    ("readers", "--threads=3"),
    ("readers:50", "cs_lines=3", "think_cycles=0"),
    ("readers:100", "cs_ns=200"),
)
RWLOCKS = (
    *(record["name"] for record in records("rwlock") if record["index"]),
    "bravo+rw-ttas",
)
WITHOUT_LOCKS = (
    ("messages",),
    ("messages", "pattern=round-trip", "--threads=4", "write_intent=1"),
    ("messages", "pattern=client-server", "--threads=4", "servers=2"),
    ("messages", "pattern=client-server", "--threads=3", "reply=0"),
    *(("atomics", f"operation={name}") for name in ("cas", "cas-fai", "tas", "swap")),
    ("atomics",),
)
INSTEAD_OF_LOCKS = (
    ("hash-table:12", "servers=1", "--threads=3"),
    ("bank:20", "atomic_by=transactions", "read_percent=10", "--threads=3"),
    ("bank:20", "atomic_by=messages", "read_percent=10", "--threads=2"),
)
SHORT = ("--warm-up-ns=200000", "--duration-ns=3000000", "--timeout=20")


@pytest.fixture(scope="session")
def program(build_dir: Path) -> str:
    return str(next(build_dir.rglob("hasp-workloads")))


def run(program: str, workload: str, *arguments: str) -> dict[str, Any]:
    completed = subprocess.run(
        [program, f"--workload={workload}", *SHORT, *arguments],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    (line,) = completed.stdout.splitlines()
    record: dict[str, Any] = json.loads(line)
    return record


def check(record: dict[str, Any]) -> None:
    """Check properties that every result has, even on a busy machine."""
    assert record["throughput_mops"] >= 0
    assert record["operations"] == sum(record["worker_operations"])
    assert len(record["worker_operations"]) == record["threads"]
    if record["operations"]:
        assert 0 < record["jain_fairness"] <= 1
        assert 0 < record["operation_p50_ns"] <= record["operation_p99_ns"]
        rate = record["operations"] * 1e3 / record["measured_ns"]
        assert record["throughput_mops"] == pytest.approx(rate, abs=0.001)


@pytest.mark.parametrize("lock", sorted(representatives()))
@pytest.mark.parametrize("arguments", UNDER_LOCKS, ids=" ".join)
def test_under_a_lock_of_each_kind(
    program: str, arguments: tuple[str, ...], lock: str
) -> None:
    # A lock without parking may be slow with more workers than CPUs.
    record = run(program, *arguments, f"--lock={lock}", "--cpus=any")
    check(record)
    assert record["lock"] == lock
    assert record["workload"] == arguments[0].split(":")[0]


@pytest.mark.parametrize("lock", RWLOCKS)
@pytest.mark.parametrize("arguments", UNDER_RWLOCKS, ids=" ".join)
def test_under_a_reader_writer_lock(
    program: str, arguments: tuple[str, ...], lock: str
) -> None:
    record = run(program, *arguments, f"--lock={lock}", "--cpus=any")
    check(record)
    assert record["lock"] == lock


@pytest.mark.parametrize("arguments", WITHOUT_LOCKS, ids=" ".join)
def test_without_a_lock(program: str, arguments: tuple[str, ...]) -> None:
    record = run(program, *arguments, "--cpus=any")
    check(record)
    assert record["lock"] is None
    assert record["acquire_p50_ns"] is None


@pytest.mark.parametrize("arguments", INSTEAD_OF_LOCKS, ids=" ".join)
def test_servers_and_transactions_acquire_no_lock(
    program: str, arguments: tuple[str, ...]
) -> None:
    record = run(program, *arguments, "--cpus=any")
    check(record)
    assert record["acquire_p50_ns"] is None


def test_every_listed_workload_is_tested(program: str) -> None:
    listing = subprocess.run(
        [program, "--list"], capture_output=True, text=True, check=True
    ).stdout
    listed = {
        record["workload"]: record["lock"]
        for record in map(json.loads, listing.splitlines())
    }
    assert listed == {
        **{case[0].split(":")[0]: True for case in (*UNDER_LOCKS, *UNDER_RWLOCKS)},
        **{case[0]: False for case in WITHOUT_LOCKS},
    }


def test_figures_are_plausible(program: str) -> None:
    # The lock is uncontended, and a pause of 1 us dominates. The time is longer than a
    # busy machine keeps a thread from running.
    words = ("one-lock", "--threads=1", "--duration-ns=300000000")
    alone = run(program, *words, "think_cycles=0", "think_ns=1000")
    assert 0 < alone["throughput_mops"] < 1
    assert alone["jain_fairness"] == 1
    assert alone["longest_run"] >= alone["operations"]
    assert alone["handover_ns"] is None
    assert 0 < alone["acquire_p50_ns"] <= alone["operation_p50_ns"]
    held = run(program, *words, "cs_ns=1000")
    assert 0 < held["throughput_mops"] < 1
    assert held["operation_p50_ns"] > max(1000, held["acquire_p50_ns"])


ATTEMPTS = 50  # on a busy machine, two threads may not meet in a section for long


@pytest.mark.parametrize(
    "workload", ["one-lock", "n-locks:2", "hash-table:1", "readers:50"]
)
def test_a_lock_without_mutual_exclusion_is_a_finding(
    build_dir: Path, workload: str
) -> None:
    program = str(next(build_dir.rglob("wrong-workloads")))
    command = [program, f"--workload={workload}", "think_cycles=0", *SHORT]
    for _ in range(ATTEMPTS):
        completed = subprocess.run(command, capture_output=True, text=True, timeout=30)
        if completed.returncode:
            break
    assert completed.returncode == 1
    assert completed.stdout == ""
    assert any(
        words in completed.stderr
        for words in ("does not exclude", "wrongly or twice", "keys were put in")
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a --workload"),
        (["--workload=no-such"], 'no workload "no-such"'),
        (["--workload=one-lock:3"], "no value after a colon"),
        (["--workload=n-locks:0"], "locks takes a number from 1"),
        (["--workload=one-lock", "buckets=3"], 'no knob "buckets"'),
        (["--workload=one-lock", "cs_lines"], "not KNOB=VALUE"),
        (["--workload=one-lock", "cs_lines=many"], "cs_lines takes a number"),
        (["--workload=atomics", "operation=add"], 'no value "add"'),
        (["--workload=atomics", "--lock=mcs"], "takes no lock"),
        (["--workload=one-lock", "--lock=no-such"], 'no lock "no-such"'),
        (["--workload=one-lock", "--lock=glibc"], "futex"),
        (["--workload=readers", "--lock=mcs"], 'no reader-writer lock "mcs"'),
        (["--workload=readers", "--lock=glibc"], "cannot run here"),
        (["--workload=one-lock", "--threads=0"], "--threads"),
        (["--workload=uncontended", "--threads=3"], "from 1 to 2"),
        (["--workload=pipeline", "--threads=1"], "from 2"),
        (["--workload=messages", "--threads=3"], "even number"),
        (["grid", "side=2", "--threads=3"], "no row each"),
        (["hash-table:4", "stripes=5"], "more stripes than buckets"),
        (["one-lock", "--seconds=0"], "--seconds takes"),
        (["one-lock", "--seconds=1s"], "--seconds takes"),
        (["--workload=messages", "pattern=client-server", "servers=2"], "no client"),
        (["--workload=messages", "pattern=client-server", "servers=0"], "a server"),
        (["--workload=hash-table", "servers=2"], "no client"),
        (["--workload=hash-table", "put_percent=60", "remove_percent=50"], "100"),
        (["--workload=one-lock", "--cpus=0"], "1 CPUs for 2 threads"),
        (["--workload=one-lock", "--cpus=0,60000"], "cannot use CPU 60000"),
        (["--workload=one-lock", "--cpus=0,x"], "--cpus"),
        (["--workload=one-lock", "--machine=xeon"], "the machine it runs on"),
        (["--workload=one-lock", "--duration-ns=0"], "--duration-ns"),
    ],
)
def test_wrong_arguments_of_a_workload(
    program: str, arguments: list[str], words: str
) -> None:
    assert_refuses(program, arguments, words)
