# SPDX-License-Identifier: MIT
"""Executors on machines with several nodes, as their publications say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Simulate = Callable[..., dict[str, Any]]
Flatten = Callable[..., Path]


def throughput(simulate: Simulate, machine: Path, executor: str, threads: int) -> float:
    found = simulate(
        machine,
        "delegation",
        "--lock=mcs",
        f"--threads={threads}",
        "--duration-ns=10000000",
        "think_cycles=4000",
        f"executor={executor}",
    )
    return float(found["throughput_mops"])


def test_a_queue_for_each_socket_is_ahead_of_one_queue(
    simulate: Simulate, flatten: Flatten
) -> None:
    machine = flatten("epyc-192")
    hierarchical, flat = (
        throughput(simulate, machine, executor, 192)
        for executor in ("h-synch", "cc-synch")
    )
    assert hierarchical > 1.1 * flat, (hierarchical, flat)


def test_waiters_that_look_for_progress_do_not_delay_the_server(
    simulate: Simulate, flatten: Flatten
) -> None:
    machine = flatten("epyc-192")
    crowded, one_socket = (
        throughput(simulate, machine, "rcl", threads) for threads in (192, 96)
    )
    assert crowded > 0.4 * one_socket, (crowded, one_socket)


def test_threads_that_come_at_once_find_lines_soon(
    simulate: Simulate, flatten: Flatten
) -> None:
    found = simulate(
        flatten("epyc-192"),
        "delegation",
        "--lock=mcs",
        "--threads=192",
        "--warm-up-ns=0",
        "--duration-ns=1000000",
        "think_cycles=4000",
        "executor=flat-combining",
    )
    assert found["throughput_mops"] > 1, found["throughput_mops"]
