# SPDX-License-Identifier: MIT
"""Campaigns: bad files are refused, and runs are neither lost nor repeated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from study.plans import PLAN, SECOND, entries, study

from hasp.base.errors import HaspError
from hasp.compare.settings import Cell
from hasp.study.campaign import load
from hasp.study.carry_out import Carrying, Tally, configurations, cpus_for
from hasp.study.journal import Journal, JournalEntry


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_a_campaign_is_shown_and_run(plan, tmp_path, capsys):
    store = tmp_path / "s"
    assert study("plan", plan, "--store", store) == 0
    assert "4 configurations; at least 8 runs are left" in capsys.readouterr().out
    assert not store.exists()
    assert study("run", plan, "--store", store, "--machine", "here") == 0
    runs = entries(store)
    assert len(runs) == 8
    assert {(run["lock"], run["threads"]) for run in runs[:4]} == {
        ("glibc", 1), ("glibc", 2), ("futex", 1), ("futex", 2),
    }  # fmt: skip
    assert study("plan", plan, "--store", store, "--machine", "here") == 0
    assert "at least 0 runs are left" in capsys.readouterr().out
    words = ("--store", store, "--machine", "here", "--csv")
    assert study("table", "sensitivity", *words, "--metric", "latency") == 0
    assert capsys.readouterr().out.splitlines()[1] == "speed,0,0,0,0,0,0"
    (batch,) = (store / "samples").glob("*.json")
    facts = json.loads(batch.read_text())
    less = {"latency", "cpu_s", "cpu_s_per_op", "peak_bytes"}
    assert less <= set(facts["lower_is_better"])
    assert facts["descriptive"] == ["cpu_s"]
    assert facts["host"]["cpus_online"] >= 1


def test_completed_runs_are_not_repeated(plan, tmp_path):
    store = tmp_path / "s"
    assert study("run", plan, "--store", store, "--machine", "here") == 0
    (path,) = (store / "journals").glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    # The journal contains what a crash leaves: five runs, and half a line.
    path.write_text("".join(lines[:5]) + lines[5][:20])
    assert study("run", plan, "--store", store, "--machine", "here") == 0
    again = path.read_text().splitlines(keepends=True)
    assert again[:5] == lines[:5]
    keys = [(run["lock"], run["threads"], run["block"]) for run in entries(store)]
    assert len(keys) == len(set(keys)) == 8


def test_an_interrupted_campaign_can_be_resumed(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace("echo speed", "sleep 0.3; echo speed"))
    store = tmp_path / "s"
    code = "import sys; from hasp.cli.main import main; sys.exit(main())"
    words = ["study", "run", path, "--store", store, "--machine", "here"]
    child = subprocess.Popen([sys.executable, "-c", code, *map(str, words)])
    limit = time.monotonic() + 40
    while time.monotonic() < limit:
        journals = list((store / "journals").glob("*.jsonl"))
        if journals and journals[0].read_text().count("\n") >= 2:
            break
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 130
    before = entries(store)
    assert 2 <= len(before) < 8
    assert list((store / "samples").glob("*.parquet"))
    assert study("run", path, "--store", store, "--machine", "here") == 0
    assert entries(store)[: len(before)] == before
    assert len(entries(store)) == 8


def test_failures_do_not_stop_the_other_programs(plan, tmp_path, capsys):
    plan.write_text(
        PLAN
        + """
[[program]]
name = "allergic"
command = "sh -c 'test -z $LD_PRELOAD'"
threads = [1]

[[program]]
name = "absent"
command = "no-such-program"

[[program]]
name = "mute"
command = "true"
threads = [1]
metrics = { throughput = "never ([0-9]+)" }
"""
    )
    store = tmp_path / "s"
    assert study("run", plan, "--store", store, "--machine", "here") == 1
    said = capsys.readouterr().err
    assert "absent is skipped: no program called 'no-such-program'" in said
    assert "allergic, futex (1 thread): failed: exit status 1" in said
    assert "mute, glibc (1 thread): no figure" in said
    assert "allergic, futex (1 thread): failed too often, given up" in said
    good = [run for run in entries(store) if run["program"] == "speed"]
    assert len(good) == 8
    failed = [run for run in entries(store) if run["program"] == "allergic"]
    assert [run["outcome"] for run in failed if run["lock"] == "futex"] == [
        "failed", "failed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("schema = 1", "schema = 2", "plan.toml:1: schema: is not 1"),
        ("least_runs = 2", "least_run = 2", "7: defaults.least_run: unknown key"),
        ("threads = [1, 2]", "threads = [0]", "6: program speed: threads"),
        ("glibc,futex", "glibc,fuutex", "5: program speed: locks: there is no lock"),
        ('command = "sh', 'kommand = "sh', "13: program.kommand: unknown key"),
        ('speed ([0-9]+)"\n', 'speed [0-9]+"\n', "14: program speed: metrics: thro"),
        ("[[program]]", "[[program]", "plan.toml:"),
        ("most_runs = 2", 'pinning = "tight"', "8: program speed: pinning"),
        ("most_runs = 2", 'most_runs = "many"', "8: program speed: most_runs"),
        ("most_runs = 2", 'server = "x"', "`server` and `ready` belong together"),
        ("noisy_runs = 0", "noisy_runs = -1", "9: program speed: noisy_runs: -1 is"),
        ("noisy_runs = 0", 'cooldown = "soon"', "9: program speed: cooldown: 'soon'"),
        ("noisy_runs = 0", 'plans = ["no.toml"]', "9: program speed: plans:"),
        ("[[program]]", "[program]", "program: is not a list of tables"),
        ('title = "small"', "environment = 3", "2: environment: is not a table"),
    ],
)
def test_bad_campaigns_are_refused(plan, tmp_path, capsys, before, after, complaint):
    assert before in PLAN
    plan.write_text(PLAN.replace(before, after, 1))
    assert study("run", plan, "--store", tmp_path / "s") == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


KEY = ("speed", "futex", 1, False)


def entry(number, value=1.0, noise="", outcome="ok"):
    values = {"throughput": value} if outcome == "ok" else {}
    return JournalEntry("speed", "futex", 1, number, outcome, "", values, 1.0, noise)


def test_runs_continue_until_the_interval_is_narrow(plan):
    plan.write_text(PLAN.replace("most_runs = 2", "most_runs = 4\nuntil = 0.05"))
    one = next(one for one in configurations(load(plan)) if one.key == KEY)

    def wants(*values):
        progress = Tally(entry(n, value) for n, value in enumerate(values))
        return progress.wants_more(one)

    assert wants(1.0)
    assert not wants(1.0, 1.0)
    assert wants(1.0, 1.2)
    assert wants(1.0, 1.2, 0.8)
    assert not wants(1.0, 1.2, 0.8, 1.4)


def test_noisy_runs_count_after_enough_repetitions(plan, tmp_path):
    plan.write_text(PLAN.replace("noisy_runs = 0", "noisy_runs = 3"))
    campaign = load(plan)
    one = next(one for one in configurations(campaign) if one.key == KEY)
    noisy = [entry(n, noise="the hypervisor took 20% of the time") for n in range(3)]
    progress = Tally(noisy[:2])
    assert progress.runs_so_far(one) == 0
    assert not progress.tolerates_noise(one)
    assert Tally(noisy).tolerates_noise(one)
    journal = Journal(tmp_path / "j.jsonl")
    for item in noisy:
        journal.add(item)
    assert journal.rows() == []
    journal.close()
    with pytest.raises(Exception, match=r"j\.jsonl:1 is not a run"):
        (tmp_path / "j.jsonl").write_text('{"program": 1}\n')
        Journal(tmp_path / "j.jsonl")


def test_the_order_is_random_but_reproducible(plan, tmp_path):
    def order():
        campaign = load(plan)
        journal = Journal(tmp_path / "order.jsonl")
        with Carrying(campaign, journal) as carrying:
            steps = carrying.steps()
            found = [next(steps).key for _ in range(4)]
        journal.close()
        return found

    assert order() == order()


def test_locks_may_be_a_list(plan):
    text = plan.read_text()
    before = load(plan)
    plan.write_text(text.replace('locks = "glibc,futex"', 'locks = ["futex", "glibc"]'))
    assert load(plan).programs[0].settings.locks == ("glibc", "futex")
    assert load(plan).digest == before.digest, "the same runs"
    for wrong in ("[3]", "[]", '["moon"]'):
        plan.write_text(text.replace('"glibc,futex"', wrong))
        with pytest.raises(HaspError, match=r"plan\.toml:5: program speed: locks: "):
            load(plan)


def test_pinning_takes_as_many_cpus_as_threads():
    every = os.sched_getaffinity(0)
    assert cpus_for("none", Cell("mcs", 1)) == every
    assert len(cpus_for("core", Cell("mcs", 1))) == 1
    assert cpus_for("core", Cell("mcs", 10_000)) == every
    assert cpus_for("node", Cell("mcs", 1)) <= every


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("thread = [1]", "22: program.thread: unknown key"),
        ('locks = "moon"', "22: program second: locks: there is no lock called 'moon'"),
        ('ready = "soon"', "22: program second: ready: `server` and"),
        ('timeout = "soon"', "22: program second: timeout: 'soon' is not a duration"),
        (
            'metrics = { rate = "(" }',
            "22: program second: metrics: rate: is not a regular",
        ),
    ],
)
def test_errors_name_the_line_of_the_program(plan, tmp_path, capsys, wrong, complaint):
    """The line is not the first one with that key: other programs have it too."""
    head = SECOND.replace('locks = "glibc"\n', "")
    plan.write_text(PLAN + (head if "locks" in wrong else SECOND.rstrip()) + "\n")
    text = plan.read_text().rstrip().splitlines()
    plan.write_text("\n".join([*text, wrong]) + "\n")
    at = len(text) + 1
    assert study("plan", plan, "--store", tmp_path / "s") == 2
    assert f"plan.toml:{complaint.replace('22', str(at), 1)}" in capsys.readouterr().err


def test_a_metric_that_never_matches_names_its_line(plan, tmp_path, capsys):
    plan.write_text(PLAN + SECOND + "metrics = { throughput = 'never ([0-9]+)' }\n")
    line = PLAN.count("\n") + 2
    assert study("run", plan, "--store", tmp_path / "s", "--machine", "here") == 1
    said = capsys.readouterr().err
    assert f"plan.toml:{line}: second, glibc (1 thread): no figure: its output" in said
    assert len([run for run in entries(tmp_path / "s") if run["outcome"] == "ok"]) == 8
    (batch,) = (tmp_path / "s" / "samples").glob("*.json")
    (failure,) = json.loads(batch.read_text())["failures"]
    assert (failure["program"], failure["lock"]) == ("second", "glibc")
    assert failure["outcome"] == "no figure"


def test_the_digest_of_an_old_campaign_is_unchanged(plan):
    """The digest names the journal, so another digest would repeat all runs."""
    plan.write_text(PLAN.replace("noisy_runs = 0\n", ""))
    assert load(plan).digest == "379c6bb7be26"
    plan.write_text(PLAN)
    assert load(plan).digest != "379c6bb7be26"


def test_a_program_that_cannot_be_prepared_does_not_stop_the_rest(
    plan, tmp_path, capsys
):
    plan.write_text(PLAN + SECOND + "prepare = 'echo no disk; false'\n")
    assert study("run", plan, "--store", tmp_path / "s", "--machine", "here") == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "plan.toml:18: second, glibc (1 thread): failed: --prepare" in said
    assert "exit status 1: no disk" in said
    assert len([run for run in entries(tmp_path / "s") if run["outcome"] == "ok"]) == 8


def test_a_metric_of_a_campaign_is_not_ambiguous(plan, tmp_path):
    """On a command line, speed=([0-9]+) could be a name and a pattern, or a pattern."""
    text = PLAN.replace("echo speed {threads}00", "echo throughput=7; echo 8")
    plan.write_text(text.replace('"speed ([0-9]+)"', '"([0-9]+)"'))
    assert study("run", plan, "--store", tmp_path / "s", "--machine", "here") == 0
    assert {run["values"]["throughput"] for run in entries(tmp_path / "s")} == {8.0}
