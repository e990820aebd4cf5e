# SPDX-License-Identifier: MIT
"""`hasp simulate --native` shows this host and a simulation of it side by side."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hasp.base.interference import Interference
from hasp.cli.main import main
from hasp.lab.simulate import beside
from hasp.lab.simulate.job import Job

Hasp = Callable[..., subprocess.CompletedProcess[str]]
ARGUMENTS = ("simulate", "--machine=i-20", "--locks=tas,mcs", "--native")


def test_each_lock_has_both_figures_and_their_ratio(hasp: Hasp) -> None:
    completed = hasp(*ARGUMENTS, "--threads=1", "--duration=1ms", "--json")
    assert completed.returncode == 0
    records = [json.loads(line) for line in completed.stdout.splitlines()]
    assert [record["lock"] for record in records] == ["tas", "mcs"]
    for record in records:
        assert record["schema"] == "hasp.simulate.native/1"
        assert record["bursts"] + record["bursts_dropped"] == 30
        assert record["simulated_mops"] > 0
        if record["bursts"]:
            ratio = record["simulated_mops"] / record["native_mops"]
            assert abs(record["ratio"] - ratio) < 1e-6
            assert record["ratio_low"] <= record["ratio"] <= record["ratio_high"]
            assert 0.1 < record["ratio"] < 10


def test_the_host_needs_the_cpus(hasp: Hasp) -> None:
    completed = hasp(*ARGUMENTS, "--threads=512")
    assert completed.returncode == 2
    assert "this host has" in completed.stderr
    assert "--workload oversubscribed" in completed.stderr


def test_threads_may_share_cpus_where_the_workload_is_about_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(beside, "ROUNDS", 3)
    words = ("--workload=oversubscribed", "--threads=5", "--machine=i7-4770")
    path = tmp_path / "beside.jsonl"
    done = main(["simulate", "--locks=futex", "--native", *words, "--json", str(path)])
    assert done == 0
    (record,) = map(json.loads, path.read_text().splitlines())
    assert (record["threads"], record["simulations"]) == (5, 3)
    assert record["bursts"] + record["bursts_dropped"] == 3


def test_bursts_beside_other_programs_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = iter([0.05, 0.2])
    monkeypatch.setattr(Interference, "other_share", lambda self, ours: next(shares))
    words = ("oversubscribed", "futex", 2, None, 1, 1000, 1000)
    row = beside.Row(Job("unused", *words), [1.0])
    for _ in range(2):
        beside._measure(row, sorted(os.sched_getaffinity(0)))
    assert (len(row.native), row.dropped) == (1, 1)
