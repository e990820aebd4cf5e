# SPDX-License-Identifier: MIT
"""Tests waiting for jobs, and their state in the store, without a cluster."""

from __future__ import annotations

import dataclasses

import pytest

from hasp.base import host
from hasp.cli.main import main
from hasp.study.campaign import load
from hasp.study.journal import Journal, JournalEntry
from hasp.study.samples import create_or_open
from hasp.study.slurm import files, state, watching
from hasp.study.slurm.queue import SlurmJob, SlurmUnavailable

PLAN = """\
schema = 1
title = "small"

[defaults]
locks = "glibc,futex"
least_runs = 2
most_runs = 2

[[program]]
name = "a"
command = "true"

[[program]]
name = "b"
command = "true"
"""


@pytest.fixture
def campaign(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return load(path)


@pytest.fixture
def store(tmp_path):
    return create_or_open(tmp_path / "s")


@pytest.fixture
def made(campaign, store):
    found = files.Files(store.folder, campaign.digest)
    found.make()
    return found


def task(job, **changes):
    usual = files.Task(job, "n1", "main", host.facts().as_json(), machine="m")
    return dataclasses.replace(usual, **changes)


def entry(program, lock, block, outcome="ok"):
    return JournalEntry(program, lock, 1, block, outcome, "", {}, 1.0, "")


def write_runs(made, job, *entries):
    journal = Journal(made.parts("m") / f"{job}.jsonl")
    for each in entries:
        journal.add(each)
    journal.close()


def job(number, condition, reason=""):
    return SlurmJob(f"7_{number}", condition, "n1", reason)


def test_remaining_runs_are_computed_from_all_tasks(campaign, store, made, capsys):
    made.write(task("7_0"))
    made.write(task("7_1"))
    made.write(task("7_2", machine=""))  # not visible yet
    write_runs(made, "7_0", entry("a", "glibc", 1), entry("a", "glibc", 2))
    write_runs(made, "7_1", entry("a", "futex", 1), entry("b", "futex", 1))
    now = state.look(campaign, store, made)
    assert now.left("m") == {"a": 1, "b": 3}
    assert now.machines("main") == ["m"]
    assert now.machines("other") == []
    assert now.made_by("7") == 4
    words = ("--store", str(store.folder), "--machine", "m")
    assert main(["study", "plan", str(campaign.path), *words]) == 0
    assert "at least 4 runs are left" in capsys.readouterr().out


def test_a_program_is_skipped_if_every_node_lacks_it(campaign, store, made):
    lacks = {"a": "no program called 'a'"}
    made.write(task("7_0", left_out=lacks))
    made.write(task("7_1"))
    assert state.look(campaign, store, made).left("m") == {"a": 4, "b": 4}
    made.write(task("10_0", left_out=lacks))  # a later array, on other nodes
    assert state.look(campaign, store, made).left("m") == {"b": 4}


def test_an_unreachable_controller_is_tried_again(
    campaign, store, made, monkeypatch, capsys
):
    monkeypatch.setattr(watching, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(watching, "LINE_INTERVAL", 0.0)
    made.write(task("7_0"))
    answers = iter(
        [
            [],  # a job just submitted may not be listed at once
            [job(0, "PENDING", "Resources"), job(1, "PENDING", "Priority")],
            SlurmUnavailable("squeue: no controller"),
            SlurmUnavailable("squeue: no controller"),
            [job(0, "RUNNING"), job(1, "COMPLETED")],
            [job(0, "COMPLETED"), job(1, "COMPLETED")],
        ]
    )

    def jobs():
        answer = next(answers)
        if isinstance(answer, SlurmUnavailable):
            raise answer
        if answer and answer[0].state == "RUNNING":
            write_runs(made, "7_0", entry("a", "futex", 1, "failed"))
        return answer

    def look():
        return state.look(campaign, store, made)

    with watching.ClusterDisplay(look()) as display:
        ended = display.until_ended(jobs, look)
    assert [each.state for each in ended] == ["COMPLETED", "COMPLETED"]
    said = capsys.readouterr().err
    assert "2 pending (Priority, Resources), 0 running, 0 ended; 8 runs left" in said
    assert said.count("no controller; trying again") == 1
    assert said.count("a, futex (1 thread): failed") == 1
    assert "0 pending, 1 running, 1 ended" in said
