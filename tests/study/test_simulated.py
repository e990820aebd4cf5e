# SPDX-License-Identifier: MIT
"""Tests campaigns on a simulated machine: their store, and resuming them."""

from __future__ import annotations

import json

import pytest

from hasp.base.errors import HaspError
from hasp.cli.main import main
from hasp.locks.native import engine

PLAN = """\
schema = 1
title = "simulated"

[defaults]
locks = "glibc,mcs,ttas"
threads = [1, 4]
least_runs = 2

[[program]]
name = "one lock"
workload = "one-lock"
knobs = { think_cycles = 300 }

[[program]]
name = "real"
command = "true"
"""


def built() -> bool:
    try:
        engine("hasp-simulate")
    except HaspError:
        return False
    return True


pytestmark = pytest.mark.skipif(
    not built(), reason="a build with a sanitizer has no simulator"
)


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def study(*words):
    return main(["study", *map(str, words)])


def entries(store):
    (path,) = (store / "journals").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_campaign_on_a_simulated_machine(plan, tmp_path, capsys):
    store = tmp_path / "s"
    words = ("run", plan, "--store", store, "--on", "simulated:opteron-48")
    assert study(*words) == 0
    assert "real is skipped" in capsys.readouterr().err
    done = entries(store)
    assert len(done) == 8  # two locks, two sizes, two seeds; glibc is not simulated
    assert {entry["lock"] for entry in done} == {"mcs", "ttas"}
    assert study(*words) == 0
    assert len(entries(store)) == 8  # no run twice

    machine = "opteron-48 (simulated)"
    assert study("table", "sensitivity", "--store", store, "--machine", machine) == 0
    assert "one lock" in capsys.readouterr().out
    (batch,) = (store / "samples").glob("*.json")
    provenance = json.loads(batch.read_text())
    assert provenance["simulated"] == "opteron-48"
    assert "acquire_p99_ns" in provenance["lower_is_better"]
    assert "throughput" not in provenance["lower_is_better"]

    cut = next((store / "journals").glob("*.jsonl"))
    cut.write_text("".join(cut.read_text().splitlines(keepends=True)[:3]))
    assert study(*words) == 0
    by_run = lambda entry: (entry["lock"], entry["threads"], entry["block"])  # noqa: E731
    assert sorted(entries(store), key=by_run) == sorted(done, key=by_run)


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("simulated:xeon-8", "xeon-80"),
        ("simulated:", "no such place"),
        ("moon", "no such place"),
    ],
)
def test_unknown_places_are_refused(plan, tmp_path, capsys, place, complaint):
    assert study("run", plan, "--store", tmp_path / "s", "--on", place) == 2
    assert complaint in capsys.readouterr().err


def test_a_workload_without_a_lock_is_skipped_on_the_host(plan, tmp_path, capsys):
    knobs = "knobs = { think_cycles = 300 }"
    plan.write_text(PLAN.replace('"one-lock"', '"atomics"').replace(knobs, ""))
    assert study("plan", plan, "--store", tmp_path / "s") == 0
    assert "--on simulated:NAME" in " ".join(capsys.readouterr().out.split())


def test_a_workload_excludes_a_command(plan, tmp_path, capsys):
    plan.write_text(PLAN.replace('command = "true"', 'command="true"\nworkload="x"'))
    assert study("plan", plan, "--store", tmp_path / "s") == 2
    assert "delete one of the two" in capsys.readouterr().err
