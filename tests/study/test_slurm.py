# SPDX-License-Identifier: MIT
"""Runs campaigns on a real Slurm cluster with two nodes on one host."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
from study import slurm_cluster
from waiting import wait_until

from hasp.cli.main import main
from hasp.study.samples import create_or_open

pytestmark = pytest.mark.skipif(
    bool(slurm_cluster.lacking()), reason=slurm_cluster.lacking() or "-"
)

PLAN = """\
schema = 1
title = "small"

[defaults]
locks = "glibc,futex"
threads = [1, 2]
least_runs = 2
most_runs = 2
noisy_runs = 0

[slurm]
time = "10m"

[[program]]
name = "speed"
command = "sh -c 'sleep SECONDS; echo speed {threads}00'"
[program.metrics]
throughput = "speed ([0-9]+)"
"""
RUN_HASP = "import sys; from hasp.cli.main import main; sys.exit(main())"


@pytest.fixture(scope="module")
def cluster():
    with slurm_cluster.cluster() as made:
        yield made


@pytest.fixture(autouse=True)
def on_the_cluster(cluster, monkeypatch):
    """Each test begins without jobs on the cluster."""
    for name in ("PATH", "SLURM_CONF"):
        monkeypatch.setenv(name, cluster.environment[name])
    yield
    cluster.run("scancel", f"--user={os.getuid()}", "--signal=KILL", "--full")
    cluster.run("scancel", f"--user={os.getuid()}")


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace("SECONDS", "0"))
    return path


@pytest.fixture
def long_plan(plan):
    plan.write_text(PLAN.replace("SECONDS", "0.4"))
    return plan


@pytest.fixture
def store(tmp_path):
    return tmp_path / "s"


def words_for(plan, store, *words):
    return ["study", "run", str(plan), "--store", str(store), "--on", "slurm", *words]


def run(plan, store, *words):
    return main(words_for(plan, store, *words))


def entries(store):
    return [
        json.loads(line)
        for path in sorted((store / "journals").glob("*.parts/*.jsonl"))
        for line in path.read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]


def keys(store):
    return Counter(
        (run["program"], run["lock"], run["threads"], run["block"])
        for run in entries(store)
    )


def arrays(store):
    return {path.stem.split("_")[0] for path in store.glob("slurm/*/tasks/*.json")}


def wait_for_runs(store, count):
    wait_until(lambda: len(entries(store)) >= count)


def complete(store, configurations=4):
    """Return whether each configuration has two different runs, without failures."""
    assert {run["outcome"] for run in entries(store)} == {"ok"}
    assert set(keys(store).values()) == {1}
    return len(keys(store)) == 2 * configurations


def test_a_campaign_is_run_and_collected(plan, store, capsys):
    plan.write_text(plan.read_text() + '[[program]]\nname = "b"\ncommand = "true"\n')
    assert run(plan, store, "--jobs", "2") == 0
    said = capsys.readouterr().err
    assert "submitted, for up to 2 nodes" in said
    assert "16 runs in" in said
    assert complete(store, 8)
    (provenance,) = (store / "samples").glob("*.json")
    facts = json.loads(provenance.read_text())
    assert facts["nodes"] in (1, 2)
    assert facts["runs"] == 16
    words = ("table", "sensitivity", "--store", str(store), "--csv")
    assert main(["study", *words, "--machine", facts["machine"]]) == 0
    assert capsys.readouterr().out.count("\n") == 3

    assert run(plan, store, "--jobs", "2") == 0
    assert "nothing is left to run" in capsys.readouterr().err
    assert len(arrays(store)) == 1


@pytest.mark.slow
def test_jobs_survive_an_interruption_and_are_found_again(plan, store, capsys):
    plan.write_text(PLAN.replace("SECONDS", "1.5"))  # two calls must meet the jobs
    words = words_for(plan, store)
    child = subprocess.Popen(
        [sys.executable, "-c", RUN_HASP, *words], stderr=subprocess.PIPE, text=True
    )
    wait_for_runs(store, 1)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "the jobs continue" in said
    assert run(plan, store, "--partition", "one") == 2
    assert "submitted with other options" in capsys.readouterr().err
    assert run(plan, store) == 0
    assert "waiting for it instead of submitting" in capsys.readouterr().err
    assert complete(store)
    assert len(arrays(store)) == 1


@pytest.mark.slow
def test_two_calls_at_once_submit_one_job(long_plan, store, cluster):
    words = [sys.executable, "-c", RUN_HASP, *words_for(long_plan, store, "--no-wait")]
    create_or_open(store)

    def listed():
        return cluster.run("squeue", "-h", "--states=all", "-o%A").split()

    before = {*listed()}
    calls = [subprocess.Popen(words) for _ in range(4)]
    assert [call.wait(40) for call in calls] == [0] * 4
    assert len({*listed()} - before) == 1


@pytest.mark.slow
def test_cancelled_jobs_keep_their_runs(long_plan, store, capsys):
    assert run(long_plan, store, "--cancel") == 0
    assert "no job of this campaign" in capsys.readouterr().err
    assert run(long_plan, store, "--no-wait") == 0
    wait_for_runs(store, 2)
    assert run(long_plan, store, "--cancel") == 0
    assert "cancelled; its runs are kept" in capsys.readouterr().err
    kept = entries(store)
    assert 2 <= len(kept) < 8
    assert {run["outcome"] for run in kept} == {"ok"}  # none after SIGTERM
    assert list((store / "samples").glob("*.parquet"))
    assert run(long_plan, store) == 0
    assert entries(store)[: len(kept)] == kept
    assert complete(store)


@pytest.mark.slow
def test_a_killed_job_loses_at_most_one_run(long_plan, store, cluster):
    assert run(long_plan, store, "--no-wait") == 0
    wait_for_runs(store, 2)
    (array,) = arrays(store)
    cluster.run("scancel", "--signal=KILL", "--full", array)
    wait_until(lambda: not cluster.run("squeue", "-h", "-o%T").split())
    before = len(entries(store))
    assert before < 8
    assert run(long_plan, store) == 0
    assert complete(store)
    assert len(arrays(store)) == 2


@pytest.mark.slow
def test_work_continues_after_a_time_limit(long_plan, store, capsys):
    assert run(long_plan, store, "--time", "4s") == 0
    assert "the jobs ended with runs left" in capsys.readouterr().err
    assert complete(store)
    assert len(arrays(store)) > 1


@pytest.mark.slow
def test_a_time_limit_that_is_too_short_is_reported(plan, store, capsys):
    plan.write_text(PLAN.replace("SECONDS", "20"))
    assert run(plan, store, "--time", "2s") == 2
    assert "the jobs ended without a single run" in capsys.readouterr().err
    assert len(arrays(store)) == 1


@pytest.mark.slow
def test_each_node_can_be_a_machine(long_plan, store):
    assert run(long_plan, store, "--jobs", "2", "--machine-per", "node") == 0
    machines = {
        json.loads(path.read_text())["machine"]: json.loads(path.read_text())["runs"]
        for path in (store / "samples").glob("*.json")
    }
    assert machines == {"n1": 8, "n2": 8}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "complaints"),
    [
        (("--partition", "no-such"), ("sbatch refuses the job", "partition")),
        (("--setup", "echo lost >&2; exit 3"), ("ended as FAILED", "lost")),
        (
            ("--setup", "export PYTHONHOME=/nowhere"),
            ("No module named", "Hasp must be"),
        ),
        (("--sbatch=--no-such-option",), ("sbatch refuses the job",)),
    ],
)
def test_errors_of_sbatch_are_reported(plan, store, capsys, words, complaints):
    assert run(plan, store, *words) == 2
    said = capsys.readouterr().err
    for complaint in complaints:
        assert complaint in said
    assert entries(store) == []


@pytest.mark.slow
def test_the_reason_of_a_pending_job_is_shown(long_plan, store, capsys, cluster):
    assert run(long_plan, store, "--no-wait", "--sbatch=--hold") == 0
    capsys.readouterr()
    child = subprocess.Popen(
        [
            *(sys.executable, "-c", RUN_HASP),
            *words_for(long_plan, store, "--sbatch=--hold"),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    assert any("1 pending (JobHeldUser)" in line for line in child.stderr)
    cluster.run("scontrol", "release", cluster.run("squeue", "-h", "-o%A").strip())
    child.communicate(timeout=40)
    assert child.returncode == 0
    assert complete(store)


@pytest.fixture(scope="module")
def hidden(cluster):
    """Return a folder that is invisible on the node of the partition `blind`."""
    if os.getuid():
        pytest.skip("only root may give a node other mounts")
    cluster.start_blind_node()
    return cluster.folder / "hidden"


@pytest.mark.slow
def test_a_store_that_is_invisible_on_the_node_is_reported(plan, hidden, capsys):
    assert run(plan, hidden / "s", "--partition", "blind") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "on n3 ended as FAILED and left no log in" in said
    assert (
        "check that the nodes see that folder under the same name; here it is on"
        in said
    )


@pytest.mark.slow
def test_a_node_without_hasp_is_reported(plan, store, hidden):
    python = hidden / "python"
    python.symlink_to(sys.executable)
    finished = subprocess.run(
        [python, "-c", RUN_HASP, *words_for(plan, store, "--partition", "blind")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert finished.returncode == 2
    assert f"{python}: No such file or directory" in finished.stderr
    assert "Hasp must be on the nodes under the same path" in finished.stderr
