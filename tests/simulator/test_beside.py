# SPDX-License-Identifier: MIT
"""`hasp simulate --native` shows this host and a simulation of it side by side."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

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


def test_threads_may_share_cpus_where_the_workload_is_about_that(hasp: Hasp) -> None:
    words = ("--workload=oversubscribed", "--threads=5", "--machine=i7-4770")
    completed = hasp("simulate", "--locks=futex", "--native", *words, "--json")
    assert completed.returncode == 0, completed.stderr
    (record,) = map(json.loads, completed.stdout.splitlines())
    assert (record["threads"], record["bursts_dropped"]) == (5, 0)
    assert record["native_mops"] > 0
