# SPDX-License-Identifier: MIT
"""Each workload of hasp-simulate runs with locks of all kinds, reproducibly."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lock_list import representatives

from hasp.lab.simulate.machines.machine import load

Simulate = Callable[..., dict[str, Any]]

UNDER_LOCKS = (
    ("one-lock", "cs_lines=4", "cs_ns=100", "jitter_percent=50"),
    ("n-locks:16",),
    ("hash-table:12", "put_percent=40", "remove_percent=40"),
    ("barrier",),
    ("pipeline:3", "capacity=2"),
    ("rcl-micro", "think_cycles=10000"),
    ("task-queue:3",),
    ("grid:12",),
    ("global-table", "trylock=1"),
    ("allocator:20",),
    ("page-cache:16", "pages=100"),
    ("short-lived:10", "locks=20"),
    ("bank:20", "atomic_by=lock", "read_percent=10"),
    ("bank:20", "atomic_by=locks", "read_percent=10"),
)
WITHOUT_LOCKS = (
    ("messages", "pattern=one-way"),
    ("messages", "pattern=round-trip", "write_intent=1"),
    ("messages", "pattern=client-server", "servers=3"),
    ("messages", "pattern=client-server", "servers=3", "read_ahead=1"),
    ("atomics", "operation=cas-fai"),
    ("atomics", "operation=fai"),
)
INSTEAD_OF_LOCKS = (
    ("hash-table:12", "servers=4"),
    ("hash-table", "servers=1", "read_ahead=1", "write_intent=1"),
    ("bank:20", "atomic_by=transactions", "read_percent=10"),
    ("bank", "atomic_by=transactions", "access_cycles=20"),
    ("bank:20", "atomic_by=messages", "read_percent=10", "servers=2"),
)
WITH_WORK = {"barrier", "pipeline:2", "task-queue", "page-cache"}
SHORT = ("--warm-up-ns=50000", "--duration-ns=300000")


@pytest.mark.parametrize("lock", sorted(representatives()))
@pytest.mark.parametrize("arguments", UNDER_LOCKS, ids=" ".join)
def test_under_a_lock_of_each_kind(
    simulate: Simulate, opteron: Path, arguments: tuple[str, ...], lock: str
) -> None:
    record = simulate(opteron, *arguments, f"--lock={lock}", "--threads=12", *SHORT)
    assert record["operations"] > 0
    assert 0 < record["acquire_p50_ns"] <= record["acquire_p99_ns"]
    assert record["transfers_local"] + record["transfers_remote"] > 0
    assert record["energy_nj_per_op"] > 0
    assert record["simulated_ns"] > record["measured_ns"] == 300000


@pytest.mark.parametrize("arguments", WITHOUT_LOCKS, ids=" ".join)
def test_without_a_lock(
    simulate: Simulate, opteron: Path, arguments: tuple[str, ...]
) -> None:
    assert simulate(opteron, *arguments, "--threads=12", *SHORT)["operations"] > 0


@pytest.mark.parametrize("arguments", INSTEAD_OF_LOCKS, ids=" ".join)
def test_servers_and_transactions_acquire_no_lock(
    simulate: Simulate, opteron: Path, arguments: tuple[str, ...]
) -> None:
    record = simulate(opteron, *arguments, "--threads=12", *SHORT)
    assert record["operations"] > 0
    assert record["acquire_p99_ns"] is None


@pytest.mark.parametrize("workload", ["one-lock", "n-locks:64", "oversubscribed"])
def test_the_seed_determines_everything(
    simulate: Simulate, opteron: Path, workload: str
) -> None:
    def run(seed: int) -> dict[str, Any]:
        arguments = ("--lock=ttas", "--threads=60", "--cpus=any", "jitter_percent=30")
        return simulate(opteron, workload, *arguments, f"--seed={seed}", *SHORT)

    first, again, other = run(1), run(1), run(2)
    assert first == again
    other["seed"] = 1
    assert first != other


@pytest.mark.parametrize(
    "workload",
    [
        *("one-lock", "n-locks:2", "hash-table:1", "barrier", "pipeline:2"),
        *("global-table:1", "task-queue", "allocator", "page-cache", "short-lived"),
        "readers:50",
    ],
)
def test_a_lock_without_mutual_exclusion_is_a_finding(
    build_dir: Path, opteron: Path, workload: str
) -> None:
    completed = subprocess.run(
        [
            str(next(build_dir.rglob("wrong-simulate"))),
            *(f"--machine={opteron}", f"--workload={workload}", "--threads=8", *SHORT),
            *(["work_cycles=0"] if workload in WITH_WORK else []),
        ],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert completed.returncode == 1
    assert completed.stdout == ""
    assert any(
        words in completed.stderr
        for words in (
            *("does not exclude", "wrongly or twice", "keys were put in"),
            "cannot end",
        )
    )


def test_requests_beyond_the_machine_are_refused(
    build_dir: Path, opteron: Path, tmp_path: Path
) -> None:
    program = str(next(build_dir.rglob("hasp-simulate")))

    def refusal(*arguments: str) -> str:
        completed = subprocess.run(
            [program, "--workload=one-lock", *arguments], capture_output=True, text=True
        )
        assert (completed.returncode, completed.stdout) == (2, "")
        return completed.stderr

    assert "--machine" in refusal()
    assert "not CPU 48" in refusal(f"--machine={opteron}", "--cpus=0,48")
    assert "node" in refusal(f"--machine={opteron}", "home=8")
    assert "missing" in refusal(f"--machine={tmp_path / 'missing'}")


@pytest.mark.parametrize("reads", [50, 99, 100])
@pytest.mark.parametrize("lock", ["rw-ttas", "rw-futex", "bravo+rw-futex"])
def test_readers_and_writers(
    simulate: Simulate, opteron: Path, lock: str, reads: int
) -> None:
    arguments = (f"--lock={lock}", "--threads=6", "cs_lines=2", *SHORT)
    record = simulate(opteron, f"readers:{reads}", *arguments)
    assert record["lock"] == lock and record["operations"] > 0
    assert record == simulate(opteron, f"readers:{reads}", *arguments)


def cycles_of_a_section(
    simulate: Simulate, flatten: Callable[..., Path], lines: int, misses: int
) -> float:
    """Return the cycles of a section of two threads in alternation."""
    machine = flatten("xeon-80", {"model.misses_in_flight": misses})
    words = ("one-lock", "--lock=tas", "--threads=2", f"cs_lines={lines}")
    record = simulate(machine, *words, "think_cycles=20000", "--duration-ns=5000000")
    return 2 * 5e6 * load("xeon-80").mhz / 1000 / record["operations"] - 20_000


def test_independent_misses_overlap(
    simulate: Simulate, flatten: Callable[..., Path]
) -> None:
    one, eight, pairs, in_order = (
        cycles_of_a_section(simulate, flatten, lines, misses)
        for lines, misses in ((1, 10), (8, 10), (8, 2), (8, 1))
    )
    assert one < eight < 1.5 * one
    assert eight < pairs < in_order
    assert in_order > 2 * one


def test_loads_beside_an_atomic_operation_cost_less_than_a_second_one(
    simulate: Simulate, flatten: Callable[..., Path]
) -> None:
    """As natively: docs/simulator.md. `tas` and `partitioned` have one, `mcs` two."""

    def extra_ns(lock: str, changes: dict[str, object]) -> float:
        machine = flatten("xeon-80", changes)
        words = ("--threads=1", "--duration-ns=200000", "--warm-up-ns=20000")
        own, tas = (
            record["measured_ns"] / record["operations"]
            for record in (
                simulate(machine, "uncontended", f"--lock={one}", *words)
                for one in (lock, "tas")
            )
        )
        return own - tas

    in_order: dict[str, object] = {}
    beside: dict[str, object] = {"local.issue_millicycles": 250}
    assert extra_ns("partitioned", in_order) > extra_ns("mcs", in_order)
    assert 0 < 2 * extra_ns("partitioned", beside) < extra_ns("mcs", beside)


def test_a_hierarchical_lock_stays_in_a_cache_or_in_a_node(
    simulate: Simulate, flatten: Callable[..., Path]
) -> None:
    """By the rule, the dies of `epyc-2x64` are cohorts, not its two sockets."""
    words = ("one-lock", "--lock=hmcs", "--threads=32", "--duration-ns=500000")
    by_rule, by_cache, by_node = (
        simulate(flatten("epyc-2x64", {"cohorts": choice}), *words)
        for choice in (0, 1, 2)
    )
    assert by_rule == by_cache
    assert 5 * by_cache["transfers_remote"] < by_node["transfers_remote"]
