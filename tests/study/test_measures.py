# SPDX-License-Identifier: MIT
"""Tests pinning, plans, lock statistics and energy in a study."""

from __future__ import annotations

import json
import os

import pytest
from conftest import native_program
from study.plans import PLAN, SECOND, entries, study

from hasp.base.energy import powercap
from hasp.compare import run as run_module
from hasp.study import carry_out
from hasp.study.campaign import load
from hasp.study.metrics import with_derived


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_programs_are_bound_to_as_many_cpus_as_threads(tmp_path):
    """nproc prints the number of CPUs that it may use."""
    path = tmp_path / "plan.toml"
    bound = PLAN.replace("{threads}00", "$(nproc)").replace(
        "noisy_runs = 0", 'noisy_runs = 0\npinning = "core"'
    )
    free = SECOND.replace("echo 1", "nproc") + 'pinning = "none"\n'
    path.write_text(bound + free + "metrics = { throughput = '([0-9]+)' }\n")
    assert study("run", path, "--store", tmp_path / "s", "--machine", "here") == 0
    every = len(os.sched_getaffinity(0))
    for run in entries(tmp_path / "s"):
        cpus = min(run["threads"], every) if run["program"] == "speed" else every
        assert run["values"]["throughput"] == cpus


def test_sizes_may_be_nodes(tmp_path, monkeypatch, capsys):
    """The simulated host has two nodes, which share this host's CPUs."""
    every = sorted(os.sched_getaffinity(0))
    nodes = [every[:1], every]
    monkeypatch.setattr(carry_out, "node_cpus", lambda: nodes)
    path = tmp_path / "plan.toml"
    text = PLAN.replace("threads = [1, 2]", "nodes = [1, 2, 3]")
    path.write_text(text.replace("{threads}00", "{nodes}0{threads}0$(nproc)"))
    assert study("plan", path, "--store", tmp_path / "s") == 0
    assert "nodes" in capsys.readouterr().out
    assert study("run", path, "--store", tmp_path / "s", "--machine", "here") == 0
    runs = entries(tmp_path / "s")
    assert {run["threads"] for run in runs} == {1, 2}, "there are no three nodes"
    for run in runs:
        size = run["threads"]
        cpus = {cpu for node in nodes[:size] for cpu in node}
        threads = sum(map(len, nodes[:size]))
        assert run["values"]["throughput"] == int(f"{size}0{threads}0{len(cpus)}")
    (batch,) = (tmp_path / "s" / "samples").glob("*.json")
    assert json.loads(batch.read_text())["size_unit"] == "nodes"


@pytest.mark.parametrize(
    ("own", "complaint"),
    [
        ("nodes = [1]\nthreads = [1]", "21: program second: nodes: excludes"),
        ("nodes = [0]", "21: program second: nodes: [0] is not a list of numbers"),
        ("nodes = [1]", "18: program second has `nodes`, but speed has `threads`"),
    ],
)
def test_bad_node_counts_are_refused(tmp_path, capsys, own, complaint):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN + SECOND.replace("threads = [1]", own))
    assert study("plan", path, "--store", tmp_path / "s") == 2
    assert f"plan.toml:{complaint}" in capsys.readouterr().err


def test_the_environment_reaches_the_programs(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(
        PLAN.replace("speed {threads}00", "speed $SPEED")
        + '[environment]\nSPEED = "77"\n'
    )
    assert study("run", path, "--store", tmp_path / "s", "--machine", "here") == 0
    assert "SPEED" not in os.environ
    assert {run["values"]["throughput"] for run in entries(tmp_path / "s")} == {77.0}


LOCK_PLAN = """\
version = 1
default = "mcs"
"""


def test_a_plan_by_site_is_measured_like_a_lock(plan, tmp_path):
    (tmp_path / "site.plan.toml").write_text(LOCK_PLAN)
    command = "sh -c 'echo speed 1$(test $HASP_LOCK = mcs && echo 1)'"
    plan.write_text(
        PLAN.replace("sh -c 'echo speed {threads}00'", command).replace(
            "noisy_runs", 'plans = ["site.plan.toml"]\nnoisy_runs'
        )
    )
    digest = load(plan).digest
    assert study("run", plan, "--store", tmp_path / "s", "--machine", "here") == 0
    runs = entries(tmp_path / "s")
    assert len(runs) == 12
    assert {run["values"]["throughput"] for run in runs if "plan" in run["lock"]} == {
        11.0
    }
    assert {run["lock"] for run in runs} == {"glibc", "futex", "plan:site.plan.toml"}
    (tmp_path / "site.plan.toml").write_text(LOCK_PLAN.replace("mcs", "clh"))
    assert load(plan).digest != digest, "another plan needs other runs"
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "plan.toml").write_text(plan.read_text())
    (moved / "site.plan.toml").write_text(LOCK_PLAN)
    assert load(moved / "plan.toml").digest == digest, "the plan's path does not matter"


def test_lock_statistics_are_runs_of_their_own(plan, tmp_path, capsys):
    """Two threads contend for one lock, and one run of each lock is recorded."""
    program = native_program("bottleneck")
    command = f"{program} --threads {{threads}} --seconds 0.2 hot:hold=20000"
    plan.write_text(
        PLAN[: PLAN.index("[[program]]")]
        + f'lock_statistics = 1\n[[program]]\nname = "hot"\ncommand = "{command}"\n'
    )
    store = tmp_path / "s"
    assert study("run", plan, "--store", store, "--machine", "here") == 0
    runs = entries(store)
    assert [run["recorded"] for run in runs] == [False] * 8 + [True] * 4
    for run in runs:
        own = {name for name in run["values"] if name.startswith("lock_")}
        assert bool(own) == run["recorded"]
        assert ("throughput" in run["values"]) != run["recorded"]
    (two,) = (r for r in runs[8:] if r["threads"] == 2 and r["lock"] == "futex")
    values = two["values"]
    assert 0 < values["lock_contended_share"] <= 1
    assert 0 < values["lock_wait_p50_ns"] <= values["lock_wait_p99_ns"]
    assert values["lock_wait_p99_ns"] <= values["lock_wait_max_ns"]
    assert 0 < values["lock_hold_p50_ns"] <= values["lock_hold_max_ns"]
    assert study("run", plan, "--store", store, "--machine", "here") == 0
    assert len(entries(store)) == 12, "additional runs are not repeated either"
    words = ("--store", store, "--machine", "here", "--csv")
    capsys.readouterr()
    assert study("table", "means", "--metric", "lock_wait_p99_ns", *words) == 0
    assert "hot,futex,2,1," in capsys.readouterr().out
    (batch,) = (store / "samples").glob("*.json")
    assert json.loads(batch.read_text())["descriptive"] == [
        *("cpu_s", "lock_contended_share")
    ]
    assert study("report", "--store", store) == 0
    assert "lock_contended_share" not in capsys.readouterr().out


def test_energy_on_a_host_with_a_meter(plan, tmp_path, monkeypatch):
    zone = tmp_path / "powercap" / "intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("max_energy_range_uj", "9000000")):
        (zone / name).write_text(text)
    counter = zone / "energy_uj"
    counter.write_text("8000000")
    monkeypatch.setattr(run_module, "find_meter", lambda: powercap.find(zone.parent))
    # The counter wraps at 9 J: from 8 J to 3 J is 4 J.
    work = f"echo 3000000 > {counter}; echo speed 100"
    plan.write_text(
        PLAN.replace("echo speed {threads}00", work)
        + f'[[program]]\nname = "idle"\ncommand = "true"\nprepare = "echo 8000000 > '
        f'{counter}"\n'
    )
    text = plan.read_text().replace("noisy_runs", "prepare = 'X'\nnoisy_runs")
    plan.write_text(text.replace("'X'", f"'echo 8000000 > {counter}'"))
    assert study("run", plan, "--store", tmp_path / "s", "--machine", "here") == 0
    for run in entries(tmp_path / "s"):
        if run["program"] == "idle":  # the counter did not change, so there is no value
            assert not {"energy_j", "tpp"} & {*run["values"]}
        else:
            assert run["values"]["energy_j"] == pytest.approx(4.0)
            watts = 4.0 / run["wall_s"]
            work = with_derived(run["values"], run["wall_s"])
            assert work["tpp"] == pytest.approx(100 / watts)


def test_energy_is_absent_on_a_host_without_a_meter(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "find_meter", lambda: None)
    assert study("run", plan, "--store", tmp_path / "s", "--machine", "here") == 0
    for run in entries(tmp_path / "s"):
        assert not {"energy_j", "tpp"} & {*run["values"]}
