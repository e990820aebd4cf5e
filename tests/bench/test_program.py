# SPDX-License-Identifier: MIT
"""hasp-bench-locks measures one case once, even if the lock hangs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from refusals import assert_refuses

CASES = (
    ["uncontended"],
    ["uncontended", "--threads=1"],
    ["uncontended", "--floor"],
    ["contended"],
    ["contended", "--floor"],
    ["think_time"],
    ["think_time", "--pinned", "--threads=8", "--think=1000"],
    ["think_time", "--floor", "--think=100"],
    ["section_time", "--think=300"],
    ["section_time", "--floor", "--pinned", "--think=300"],
    ["oversubscribed"],
    ["oversubscribed", "--threads=32"],
    ["oversubscribed", "--floor"],
    ["load_change", "--threads=8"],
    ["load_change", "--floor", "--threads=8"],
    ["trylock"],
    ["trylock", "--floor"],
    ["try_first"],
    ["try_first", "--threads=8", "--floor"],
    ["trylock_hammer"],
    ["trylock_hammer", "--threads=4", "--floor"],
    ["condvar_ping_pong"],
    ["broadcast_queue"],
    ["bytes_per_mutex", "--mutexes=1000", "--seconds=5"],
    ["create_destroy"],
    ["create_destroy", "--threads=1"],
    ["create_destroy", "--floor"],
    ["startup"],
    ["baton_ring"],
)
FIGURES = {"value", "seconds", "operations", "fairness", "starvation_ms"}
FIELDS = FIGURES | {"case", "threads", "floor", "unit", "outcome", "reason"}


@pytest.fixture(scope="session")
def program(build_dir: Path) -> str:
    return str(next(build_dir.rglob("hasp-bench-locks")))


@pytest.fixture(scope="session")
def hanging_lock(build_dir: Path) -> str:
    return str(next(build_dir.rglob("hanging-lock.so")))


def measure(program: str, *arguments: str, preload: str = "") -> dict[str, Any]:
    environment = {**os.environ, "LD_PRELOAD": preload} if preload else None
    completed = subprocess.run(
        [program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert completed.stderr == ""
    (line,) = completed.stdout.splitlines()
    record: dict[str, Any] = json.loads(line)
    return record


@pytest.mark.parametrize("arguments", CASES, ids=" ".join)
def test_each_case_gives_a_figure(program: str, arguments: list[str]) -> None:
    # With more threads than CPUs, the measured ones may never get a CPU in a short run,
    # and a short run has only one load.
    for seconds in ("0.02", "0.2", "1"):
        record = measure(program, f"--seconds={seconds}", *arguments)
        if record["operations"] and record["outcome"] == "ok":
            break
    assert set(record) == FIELDS
    assert record["case"] == arguments[0]
    assert record["floor"] == ("--floor" in arguments)
    assert (record["outcome"], record["reason"]) == ("ok", "")
    assert record["value"] > 0
    assert record["operations"] > 0


def test_every_listed_case_is_tested(program: str) -> None:
    listing = subprocess.run(
        [program, "--list"], capture_output=True, text=True, check=True
    ).stdout
    listed = [json.loads(line)["case"] for line in listing.splitlines()]
    assert listed == list(dict.fromkeys(case[0] for case in CASES))


def test_two_numbers_of_oversubscribed_threads_are_listed(program: str) -> None:
    listing = subprocess.run(
        [program, "--list"], capture_output=True, text=True, check=True
    ).stdout
    threads = {
        record["case"]: record["threads"]
        for record in map(json.loads, listing.splitlines())
    }
    few, many = threads["oversubscribed"]
    assert few >= 8 and many == 4 * few
    assert threads["baton_ring"] == [few, many]
    assert threads["uncontended"] == threads["create_destroy"] == [2, 1]
    assert threads["section_time"] == [few, many]
    assert threads["think_time"] == [2, few, many]


def test_a_longer_think_time_leaves_fewer_acquisitions(program: str) -> None:
    short, long = (
        measure(program, "think_time", f"--think={ns}", "--seconds=0.1")
        for ns in (0, 100_000)
    )
    # Two threads that think 100 us acquire every 50 us, if they find the CPU as fast as
    # when the loop was calibrated.
    assert long["operations"] <= 2 * long["seconds"] * 1e9 / 50_000
    assert short["operations"] > 4 * long["operations"]


def test_a_third_of_the_think_time_is_spent_in_the_section(program: str) -> None:
    floor = measure(
        program,
        "section_time",
        "--floor",
        "--threads=2",
        "--think=300000",
        "--seconds=0.1",
    )
    # Sections of 100 us exclude each other, if the CPU is as fast as when the loop was
    # calibrated.
    assert floor["operations"] <= 2 * floor["seconds"] * 1e9 / 100_000


def test_figures_are_plausible(program: str) -> None:
    pair = measure(program, "uncontended", "--seconds=0.05")
    assert pair["value"] > 0
    many = measure(program, "oversubscribed", "--threads=8", "--seconds=0.05")
    assert 0 <= many["fairness"] <= 1
    assert many["starvation_ms"] > 0
    mutex = measure(program, "bytes_per_mutex", "--mutexes=20000")
    assert 40 <= mutex["value"] < 48, "a glibc mutex needs only its own bytes"


@pytest.mark.parametrize(
    "arguments",
    [
        ["uncontended"],
        ["uncontended", "--threads=1"],
        ["contended"],
        ["oversubscribed"],
        ["condvar_ping_pong"],
        ["broadcast_queue"],
        ["bytes_per_mutex"],
        ["create_destroy"],
        ["create_destroy", "--threads=1"],
    ],
    ids=" ".join,
)
def test_a_lock_that_hangs_is_a_result(
    program: str, hanging_lock: str, arguments: list[str]
) -> None:
    record = measure(
        program, *arguments, "--seconds=0.02", "--grace=0.1", preload=hanging_lock
    )
    assert record["outcome"] == "hang"
    assert record["reason"]
    assert not record["value"], "no lock was acquired"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name one case"),
        (["contended", "trylock"], "name one case"),
        (["no_such_case"], "no case"),
        (["contended", "--threads=0"], "--threads"),
        (["contended", "--think=10"], "--think"),
        (["contended", "--pinned"], "--pinned"),
        (["think_time", "--think=-1"], "--think"),
        (["contended", "--threads=many"], "--threads"),
        (["contended", "--threads=-2"], "--threads"),
        (["contended", "--seconds=0"], "--seconds"),
        (["contended", "--seconds=1s"], "--seconds"),
        (["contended", "--no-such-option"], "no-such-option"),
        (["condvar_ping_pong", "--threads=3"], "--threads 2"),
        (["trylock_hammer", "--threads=3"], "an even number"),
        (["broadcast_queue", "--threads=3"], "an even number"),
        (["startup", "--floor"], "no --floor"),
    ],
)
def test_wrong_arguments_of_a_case(
    program: str, arguments: list[str], words: str
) -> None:
    assert_refuses(program, arguments, words)
