# SPDX-License-Identifier: MIT
"""Tests `hasp study diff`: changes between two stores, and inconclusive results."""

from __future__ import annotations

import json

import numpy
import pytest

from hasp.cli.main import main

LOCKS = ("mcs", "ttas", "futex")


def make(folder, factors, spread=0.005, runs=6, machine="M", seed=1):
    """Return a store of db at 4 threads: 100 ops times each lock's factor."""
    source = numpy.random.default_rng(seed)
    lines = ["program,lock,threads,throughput,latency"]
    for lock in LOCKS:
        for _ in range(runs):
            value = 100 * factors.get(lock, 1) * source.normal(1, spread)
            lines.append(f"db,{lock},4,{value},{1 / value}")
    path = folder.with_suffix(".csv")
    path.write_text("\n".join(lines) + "\n")
    words = ["study", "add", "--store", folder, "--machine", machine, path]
    assert main([str(word) for word in words]) == 0
    return folder


def diff(*words):
    return main(["study", "diff", *map(str, words)])


def records(capsys, *words):
    capsys.readouterr()
    assert diff(*words, "--json") == 0
    lines = capsys.readouterr().out.splitlines()
    return {(one["metric"], one["lock"]): one for one in map(json.loads, lines)}


def test_changes_are_distinguished_from_noise(tmp_path, capsys):
    before = make(tmp_path / "a", {"mcs": 1.2})
    after = make(tmp_path / "b", {"mcs": 0.9, "ttas": 1.5}, seed=2)
    found = records(capsys, before, after)
    for metric in ("throughput", "latency"):  # lower is better
        assert found[metric, "mcs"]["verdict"] == "worse"
        assert found[metric, "mcs"]["gain"] == pytest.approx(0.75, rel=0.02)
        assert found[metric, "ttas"]["verdict"] == "better"
        assert found[metric, "futex"]["verdict"] == "same"
    assert diff(before, after, "--metric", "throughput") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "of 3 configurations 1 are better, 1 worse and 1 within 5 %" in text
    assert "db at 4: the best lock was mcs and is now ttas." in text


def test_noise_is_not_a_difference(tmp_path, capsys):
    before = make(tmp_path / "a", {}, spread=0.3)
    after = make(tmp_path / "b", {}, spread=0.3, seed=2)
    verdicts = {one["verdict"] for one in records(capsys, before, after).values()}
    assert verdicts <= {"cannot tell", "same"}
    assert diff(before, after, "--fail-if-worse") == 0


def test_single_runs_are_inconclusive(tmp_path, capsys):
    before = make(tmp_path / "a", {}, runs=1)
    after = make(tmp_path / "b", {"mcs": 2}, runs=1)
    assert records(capsys, before, after)["throughput", "mcs"]["verdict"] == (
        "cannot tell"
    )


def test_fail_if_worse_sets_the_exit_status(tmp_path):
    before = make(tmp_path / "a", {})
    after = make(tmp_path / "b", {"futex": 0.5}, seed=2)
    assert diff(before, after) == 0
    assert diff(before, after, "--fail-if-worse") == 1
    assert diff(after, before, "--fail-if-worse") == 0


def test_stores_without_a_common_machine(tmp_path, capsys):
    before = make(tmp_path / "a", {}, machine="A")
    after = make(tmp_path / "b", {}, machine="B")
    assert diff(before, after) == 2
    assert "no such measurements in common" in capsys.readouterr().err
    assert diff(before, before, "--machine", "C") == 2
    assert "both have A" in capsys.readouterr().err
