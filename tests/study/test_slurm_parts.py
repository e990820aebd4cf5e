# SPDX-License-Identifier: MIT
"""Tests parts of the Slurm support without Slurm: settings, tasks, errors."""

from __future__ import annotations

import dataclasses
import json
import signal

import pytest

from hasp.base import host
from hasp.base.errors import Interrupted
from hasp.cli.main import main
from hasp.study.campaign import load
from hasp.study.journal import JournalEntry
from hasp.study.samples import create_or_open
from hasp.study.slurm import failure, files, naming, task
from hasp.study.slurm.queue import SlurmJob

PLAN = """\
schema = 1
title = "small"

[defaults]
locks = "glibc,futex"
threads = [1]
least_runs = 2
most_runs = 2
noisy_runs = 0

[slurm]
partition = "main"
time = "2h"
sbatch = ["--qos=long"]

[[program]]
name = "short"
command = "true"
seconds = 1

[[program]]
name = "long"
command = "true"
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def store(tmp_path):
    return create_or_open(tmp_path / "s").folder.resolve()


@pytest.fixture(autouse=True)
def handlers():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def on_node(plan, store, monkeypatch):
    """Return on_node(job, node, changes), which runs a task in this process."""

    def run(job="7_0", node="n1", **changes):
        array, number = job.split("_")
        monkeypatch.setenv("SUBMITIT_EXECUTOR", "slurm")
        monkeypatch.setenv("SLURM_JOB_ID", "99")
        monkeypatch.setenv("SLURM_ARRAY_JOB_ID", array)
        monkeypatch.setenv("SLURM_ARRAY_TASK_ID", number)
        monkeypatch.setenv("SLURMD_NODENAME", node)
        order = task.TaskOrder(load(plan), store, None, "kind", "", 3600.0)
        made = files.Files(store, order.campaign.digest)
        made.make()
        outcome = task.carry_out(dataclasses.replace(order, **changes))
        return outcome, next(one for one in made.tasks() if one.job == job)

    return run


def entries(store):
    return [
        (run["program"], run["lock"], run["threads"], run["block"])
        for path in sorted((store / "journals").glob("*.parts/*.jsonl"))
        for run in map(json.loads, path.read_text().splitlines())
    ]


def study(*words):
    return main(["study", *map(str, words)])


def test_cluster_settings_do_not_change_the_digest(plan):
    campaign = load(plan)
    assert campaign.slurm.partition == "main"
    assert campaign.slurm.time_s == 7200
    assert campaign.slurm.sbatch == ("--qos=long",)
    plan.write_text(PLAN.replace('"main"', '"other"'))
    assert load(plan).digest == campaign.digest


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ('partition = "main"', 'partion = "main"', "12: slurm.partion: unknown key"),
        ('partition = "main"', "partition = 3", "slurm.partition: 3 is not text"),
        ('"2h"', '"soon"', "13: slurm.time:"),
        ('"2h"', '"0s"', "13: slurm.time: is not a time"),
        ('["--qos=long"]', '"--qos=long"', "14: slurm.sbatch: is not a list"),
        ('"--qos=long"', '"qos=long"', "14: slurm.sbatch: 'qos=long' is not a long"),
        ('"--qos=long"', '"--time=5"', "14: slurm.sbatch: --time cannot be given"),
        ('time = "2h"', "jobs = 0", "slurm.jobs: 0 is not 1 or more"),
        ('time = "2h"', 'machine_per = "rack"', "slurm.machine_per: is unknown"),
    ],
)
def test_a_wrong_table_is_refused(plan, tmp_path, capsys, before, after, complaint):
    assert before in PLAN
    plan.write_text(PLAN.replace(before, after, 1))
    assert study("run", plan, "--store", tmp_path / "t", "--on", "slurm") == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--jobs", "2"), "--jobs is for a Slurm cluster"),
        (("--cancel",), "--cancel is for a Slurm cluster"),
        (("--on", "slurm:main"), "no such place"),
        (("--on", "slurm", "--sbatch=--array=1"), "--array cannot be given"),
        (("--on", "slurm", "--machine", "m", "--machine-per", "node"), "drop one"),
        (("--on", "slurm"), "`sbatch` is not installed"),
    ],
)
def test_bad_options_are_refused(plan, tmp_path, capsys, monkeypatch, words, complaint):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert study("run", plan, "--store", tmp_path / "t", *words) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "t").exists()


THIS_HOST = host.facts()


def node(model="AMD EPYC 7742 64-Core Processor", cpus=128, numa=2):
    return dataclasses.replace(
        THIS_HOST,
        cpu_model=model,
        cpus_online=cpus,
        cpus_allowed=cpus,
        numa_nodes=numa,
    )


def test_nodes_are_named_by_their_kind():
    assert naming.name_of_kind(node()) == "AMD-EPYC-7742-2x64"
    xeon = node("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", 80, 4)
    assert naming.name_of_kind(xeon) == "Intel-Xeon-Gold-6230-4x20"
    kinds = {
        naming.kind_of(each) for each in (node(), xeon, node(numa=8), node(cpus=8))
    }
    assert len(kinds) == 4


def test_a_task_does_exactly_the_work_that_is_left(on_node, store):
    outcome, said = on_node("7_0")
    assert outcome == said.outcome == files.DONE
    assert said.machine == naming.name_of_kind(host.facts())
    done = entries(store)
    assert len(done) == len(set(done)) == 8
    assert done[0][0] == "long"  # the longest program first
    assert on_node("8_0", node="n2")[0] == files.DONE
    assert entries(store) == done


def test_claimed_programs_are_skipped(on_node, store, plan):
    made = files.Files(store, load(plan).digest)
    made.make()
    machine = naming.name_of_kind(host.facts())
    assert made.claim("7", machine, 1, "7_1")
    assert not made.claim("7", machine, 1, "7_2")
    on_node("7_0")
    assert {program for program, *_ in entries(store)} == {"short"}
    on_node("8_0")  # claims of another array are ignored
    done = entries(store)
    assert len(done) == len(set(done)) == 8


def test_runs_of_earlier_tasks_are_not_repeated(on_node, store):
    on_node("7_0")
    (part,) = (store / "journals").glob("*.parts/*.jsonl")
    lines = part.read_text().splitlines(keepends=True)
    part.write_text("".join(lines[:3]) + lines[3][:20])  # killed while it wrote a line
    on_node("8_0", node="n2")
    assert part.read_text().endswith(lines[3][:20])  # unchanged
    part.write_text("".join(lines[:3]))
    done = entries(store)
    assert len(done) == len(set(done)) == 8


def test_different_nodes_are_not_one_machine(on_node, store, monkeypatch):
    assert on_node("7_0", machine="m")[0] == files.DONE
    monkeypatch.setattr(host, "facts", node)
    outcome, said = on_node("7_1", node="n2", machine="m")
    assert outcome == files.REFUSED
    assert "the machine m is" in said.message and "EPYC" in said.message
    assert on_node("7_2", node="n2")[0] == files.DONE  # by kind, there are two
    assert on_node("7_3", node="n2", machine_per="node")[1].machine == "n2"


def test_programs_missing_on_a_node(on_node, plan, store):
    plan.write_text(PLAN.replace('command = "true"', 'command = "no-such-program"', 1))
    outcome, said = on_node("7_0")
    assert outcome == files.DONE
    assert "no-such-program" in said.left_out["short"]
    assert {program for program, *_ in entries(store)} == {"long"}
    plan.write_text(PLAN.replace('command = "true"', 'command = "no-such-program"'))
    outcome, said = on_node("8_0")
    assert outcome == files.REFUSED
    assert "no program of the campaign runs on n1" in said.message


def test_a_task_ends_cleanly_before_its_time_limit(on_node, plan, store):
    plan.write_text(PLAN.replace('command = "true"', 'command = "sleep 0.3"'))
    assert on_node("7_0", time_s=1.6)[0] == files.INTERRUPTED
    some = entries(store)
    assert 0 < len(some) < 8
    assert on_node("8_0")[0] == files.DONE
    done = entries(store)
    assert len(done) == len(set(done)) == 8


def test_failures_caused_by_the_end_of_the_job_are_not_written(store):
    journal = task.PatientJournal(store / "journals" / "x.jsonl")
    killed = JournalEntry(
        "long", "mcs", 1, 1, "failed", "killed by SIGTERM", {}, 1.0, ""
    )
    with task.time_limit(3600), pytest.raises(Interrupted):
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        journal.add(killed)
    journal.close()
    assert journal.path.read_text() == ""


def job(state, node="n1"):
    return SlurmJob("7_0", state, node, "")


def said(outcome):
    return files.Task("7_0", "n1", "", {}, outcome=outcome)


@pytest.mark.parametrize(
    ("state", "outcome", "well"),
    [
        ("COMPLETED", files.DONE, True),
        ("COMPLETED", files.INTERRUPTED, True),
        ("COMPLETED", files.REFUSED, False),
        ("COMPLETED", None, False),
        ("TIMEOUT", files.RUNNING, True),
        ("NODE_FAIL", None, True),
        ("PREEMPTED", files.INTERRUPTED, True),
        ("FAILED", files.RUNNING, False),
        ("CANCELLED", files.INTERRUPTED, False),
        ("OUT_OF_MEMORY", files.RUNNING, False),
    ],
)
def test_job_states_that_are_not_failures(state, outcome, well):
    assert failure.went_well(job(state), outcome and said(outcome)) is well


def test_failures_are_reported_with_the_end_of_the_log(store):
    made = files.Files(store, "d")
    made.make()
    error, output = made.log_of("7_0")
    silent = failure.failure(job("FAILED"), None, made)
    assert "job 7_0 on n1 ended as FAILED and left no log" in silent.message
    assert "check that the nodes see that folder" in silent.remedy
    output.write_text("begun\n\nboom\n")
    told = failure.failure(job("FAILED"), None, made)
    assert told.message.endswith("begun\n        boom")
    error.write_text("python: No module named submitit\n")
    told = failure.failure(job("FAILED", ""), None, made)
    assert "on no node" in told.message
    assert "Hasp must be on the nodes under the same path" in told.remedy
