# SPDX-License-Identifier: MIT
"""hasp-shapes runs each shape with any implementation of pthread mutexes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lock_list import BUILD

Environment = Callable[..., dict[str, str]]

SHAPES = (
    ("task-queue",),
    ("task-queue:0", "tasks=1"),
    ("pipeline", "--threads=4", "capacity=1", "work_cycles=100"),
    ("barrier", "--threads=3"),
    ("barrier", "--threads=3", "watch=1"),
    ("grid:8",),
    ("global-table", "trylock=1"),
    ("hash-table:4",),
    ("allocator:2",),
    ("unique-id",),
    ("page-cache:8", "pages=20"),
    ("short-lived:5",),
    ("long-lived",),
)
SHORT = ("--warm-up-ns=500000", "--seconds=0.005", "--timeout=20")


@pytest.fixture(scope="session")
def program(build_dir: Path) -> str:
    return str(next(build_dir.rglob("hasp-shapes")))


def listed(program: str) -> list[dict[str, Any]]:
    done = subprocess.run([program, "--list"], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("lock", ["glibc", "futex", "mcs-park"])
@pytest.mark.parametrize("arguments", SHAPES, ids=" ".join)
def test_under_preloaded_locks(
    program: str, native_env: Environment, arguments: tuple[str, ...], lock: str
) -> None:
    done = subprocess.run(
        [program, *arguments, *SHORT],
        env=native_env(lock),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert record["lock"] == "pthread"
    assert record["operations"] == sum(record["worker_operations"])
    latencies = [record[f"acquire_{part}_ns"] for part in ("p50", "p99", "max")]
    if None not in latencies:
        assert 0 < latencies[0] <= latencies[1] <= latencies[2]


def test_every_shape_is_tested(program: str) -> None:
    shapes = {one["workload"] for one in listed(program) if one["shape_of"]}
    assert shapes == {arguments[0].partition(":")[0] for arguments in SHAPES}


def test_it_needs_only_the_c_library(program: str) -> None:
    done = subprocess.run(["readelf", "-d", program], capture_output=True, text=True)
    needed = [line for line in done.stdout.splitlines() if "NEEDED" in line]
    assert all("libc.so" in line or "ld-linux" in line for line in needed), needed


ATTEMPTS = 50  # on a busy machine, two threads may not meet in a section for long


@pytest.mark.parametrize(
    "arguments",
    [
        ("task-queue", "work_cycles=0"),
        ("grid:2", "think_cycles=0"),
        ("global-table:1", "think_cycles=0"),
        ("hash-table:1", "think_cycles=0"),
        ("allocator", "think_cycles=0"),
        ("unique-id", "think_cycles=0"),
        ("page-cache:8", "think_cycles=0"),
        ("short-lived", "think_cycles=0", "locks=2"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_mutex_without_mutual_exclusion_is_a_finding(
    program: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    wrong = next(BUILD.rglob("wrong-mutex.so"))
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    apart = [f"--cpus={cpus}"] if "," in cpus else []
    for _ in range(ATTEMPTS):
        done = subprocess.run(
            [program, *arguments, *SHORT, *apart],
            env={"LD_PRELOAD": str(wrong)},
            capture_output=True,
            text=True,
            timeout=30,
        )
        if done.returncode:
            break
    assert (done.returncode, done.stdout) == (1, "")
    assert any(
        words in done.stderr
        for words in ("does not exclude", "wrongly or twice", "keys were put in")
    )


def test_help_lists_shapes_and_knobs(program: str) -> None:
    done = subprocess.run([program, "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    for one in listed(program):
        assert f"  {one['workload']}: " in done.stdout
        for knob in one["knobs"]:
            assert f"\n  {knob['name']} " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_the_lock_is_that_of_the_preloaded_library(program: str) -> None:
    done = subprocess.run(
        [program, "unique-id", "--lock=mcs"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "hasp run --lock" in done.stderr
