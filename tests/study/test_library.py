# SPDX-License-Identifier: MIT
"""Tests the library of programs: its list, its campaigns, and workloads on the host."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hasp.cli.main import main
from hasp.study import library
from hasp.study.campaign import load
from hasp.study.samples import open_store

PLAN = """\
schema = 1
title = "shapes"

[defaults]
locks = "glibc,futex"
threads = [2]
least_runs = 1
most_runs = 1
seconds = 0.02
noisy_runs = 0

[[program]]
name = "queue"
workload = "task-queue"
knobs = { queues = 2 }
"""


def study(*words):
    return main(["study", *map(str, words)])


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_the_whole_library_makes_a_campaign(tmp_path, capsys):
    path = tmp_path / "plan.toml"
    assert study("library", "--write", path, "--programs", "all") == 0
    programs = {program.name: program for program in load(path).programs}
    assert list(programs) == [entry.name for entry in library.entries()]
    assert programs["rocksdb"].settings.metrics[0].name == "throughput"
    assert programs["task-queue"].knobs["queues"] == 1
    assert min(programs["pipeline"].settings.threads) >= 2
    assert study("library", "--write", path) == 2  # it may be edited
    assert "exists" in capsys.readouterr().err


def test_the_list(capsys):
    assert study("library", "--json") == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {record["kind"] for record in records} == {"real", "shape"}
    for record in records:
        assert record["summary"]
        assert bool(record["packages"]) == (record["kind"] == "real")
        assert record["kind"] == "real" or (record["study"] and record["knobs"])
    assert study("library") == 0
    shown = capsys.readouterr().out
    *lines, last = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert last.endswith("hasp-shapes NAME")
    assert "allocator" in shown and "db_bench" not in shown


def test_selection_by_name_and_group():
    every = library.entries()
    shapes = library.chosen(every, ["shape"])
    assert {one.kind for one in shapes} == {"shape"}
    assert [one.name for one in library.chosen(every, ["grid", "pigz"])] == [
        "pigz",
        "grid",
    ]
    lacking = replace(every[0], needs=("no-such-command",))
    assert library.chosen([lacking, *shapes], ["installed"]) == shapes
    assert library.install_line([lacking]).endswith(" ".join(lacking.packages))


def test_an_unknown_program(capsys):
    assert study("library", "--programs", "page-cash") == 2
    assert "did you mean page-cache" in capsys.readouterr().err
    assert study("library", "--programs", ",") == 2
    assert "no program is selected" in capsys.readouterr().err


def test_a_workload_runs_on_this_host(plan, tmp_path):
    store = tmp_path / "s"
    assert study("run", plan, "--store", store, "--machine", "here") == 0
    assert study("run", plan, "--store", store, "--machine", "here") == 0
    samples = open_store(store).read()
    assert set(samples["lock"]) == {"glibc", "futex"}
    assert {"throughput", "acquire_p99_ns", "acquire_max_ns", "jain_fairness"} <= set(
        samples["metric"]
    )
    less = open_store(store).lower_is_better()
    assert "acquire_max_ns" in less and "jain_fairness" not in less


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("queues = 2", "queus = 2", "no knob 'queus'"),
        ("queues = 2", "queues = 5000", "from 0 to 4096"),
        ("queues = 2", 'queues = "two"', "queues cannot be 'two'"),
        ('"task-queue"', '"task-kueue"', "did you mean task-queue"),
        ('"task-queue"', '"grid:8"', "grid has no knob 'queues'"),
        ("[2]", "[8192]", "1 to 4096 threads, not 8192"),
    ],
)
def test_unknown_knobs_of_a_workload(plan, capsys, tmp_path, old, new, complaint):
    plan.write_text(PLAN.replace(old, new))
    assert study("plan", plan, "--store", tmp_path / "s") == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert f"{plan}:14: program queue" in error
