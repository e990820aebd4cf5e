# SPDX-License-Identifier: MIT
"""Tests how noise is detected, noisy runs are repeated, and runs are spaced."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import pytest

from hasp.cli.main import main
from hasp.compare.noise import noise_of
from hasp.compare.run_record import FAILED, OK, Run
from hasp.study import carry_out
from hasp.study.campaign import load
from hasp.study.carry_out import Carrying, configurations
from hasp.study.journal import Journal

PLAN = """\
schema = 1
[[program]]
name = "p"
command = "true"
locks = "glibc"
least_runs = 2
most_runs = 2
cooldown = "90s"
"""


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, None),
        ({"steal": 0.04, "other_load": 0.09, "other_s": 5.0}, None),
        ({"steal": 0.06}, "steal"),
        ({"throttled": 1}, "quota"),
        ({"heated": 1}, "heat"),
        ({"other_load": 0.11, "other_s": 0.2}, "other load"),
        # A tick or two in a short run may be chance.
        ({"other_load": 0.50, "other_s": 0.02}, None),
    ],
)
def test_what_counts_as_noise(fields, kind):
    found = noise_of(Run(1, "mcs", 2, OK, **fields))
    assert (found.kind if found else None) == kind
    assert noise_of(Run(1, "mcs", 2, FAILED, **fields)) is None


class Scripted:
    """A ComparisonRunner with scripted outcomes."""

    def __init__(self, *runs):
        self.runs = list(runs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, block, cell, cpus):
        run = self.runs.pop(0)
        return dataclasses.replace(run, block=block, lock=cell.lock)


QUIET = Run(1, "glibc", 1, OK, wall_s=1.0)
NOISY = dataclasses.replace(QUIET, steal=0.5)


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Return study(*runs, plan=...), which returns a campaign's journal and pauses."""

    def carried_out(*runs, plan=PLAN):
        naps = []
        clock = iter(range(1000))
        time = SimpleNamespace(sleep=naps.append, monotonic=lambda: next(clock))
        monkeypatch.setattr(carry_out, "time", time)
        monkeypatch.setattr(
            carry_out, "ComparisonRunner", lambda *_, **__: Scripted(*runs)
        )
        path = tmp_path / "plan.toml"
        path.write_text(plan)
        journal = Journal(tmp_path / "j.jsonl")
        with Carrying(load(path), journal) as carrying:
            for one in carrying.steps():
                carrying.run(one)
        journal.close()
        return journal.entries, naps

    return carried_out


def test_noisy_runs_are_repeated_a_limited_number_of_times(study):
    entries, _ = study(QUIET, NOISY, NOISY, NOISY, NOISY)
    assert [entry.counts for entry in entries] == [True, False, False, False, True]
    assert [bool(entry.noise) for entry in entries] == [False, True, True, True, False]
    # The last one counts although it is noisy, and is marked.
    assert [entry.doubt for entry in entries] == ["", "", "", "", "steal"]


def test_a_campaign_may_tolerate_noise_at_once(study):
    entries, _ = study(NOISY, NOISY, plan=PLAN + "noisy_runs = 0\n")
    assert [(entry.counts, entry.doubt) for entry in entries] == [(True, "steal")] * 2


def test_there_is_a_pause_between_runs(study):
    _, naps = study(QUIET, QUIET)
    assert naps[0] == 0  # no pause before the first run
    assert 80 < naps[1] <= 90


def test_there_is_a_pause_after_a_noisy_run(study, monkeypatch):
    plan = PLAN.replace('cooldown = "90s"\n', "")
    monkeypatch.setattr(carry_out, "NOISE_PAUSE", 5.0)
    _, naps = study(NOISY, QUIET, QUIET, plan=plan)
    assert naps == [0, 4.0, 0]  # the clock advanced by one


def test_pauses_are_included_in_the_estimate(tmp_path, capsys):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN + "seconds = 10\n")
    assert main(["study", "plan", str(path), "--store", str(tmp_path / "s")]) == 0
    assert "at least 2 runs are left, which take 3 min 20 s" in " ".join(
        capsys.readouterr().out.split()
    )


def test_noisy_runs_that_count_are_reported(tmp_path, monkeypatch, capsys):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace('"90s"', '"0s"') + "noisy_runs = 0\n")
    runner = Scripted(NOISY, QUIET)
    monkeypatch.setattr(carry_out, "ComparisonRunner", lambda *_, **__: runner)
    words = ["study", "run", str(path), "--store", str(tmp_path / "s")]
    assert main([*words, "--machine", "here"]) == 0
    assert "1 of 2 runs count although they were noisy (1 with steal)" in " ".join(
        capsys.readouterr().err.split()
    )
    (batch,) = (tmp_path / "s" / "samples").glob("*.json")
    assert json.loads(batch.read_text())["doubts"] == {"steal": 1}


def test_nothing_is_recorded_without_lock_statistics(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    campaign = load(path)
    assert carry_out.to_record(campaign) == []
    path.write_text(PLAN + "lock_statistics = 1\n")
    campaign = load(path)
    assert [one.recorded for one in configurations(campaign)] == [False]
    assert [one.recorded for one in carry_out.to_record(campaign)] == [True]


def test_failing_configurations_are_not_recorded(study):
    failed = dataclasses.replace(QUIET, outcome=FAILED)
    entries, _ = study(failed, failed, plan=PLAN + "lock_statistics = 2\n")
    assert [entry.recorded for entry in entries] == [False, False]


def test_persistent_noise_is_tolerated(study):
    """If not, a study on a shared host would take four times as long."""
    plan = PLAN.replace("least_runs = 2", "least_runs = 30").replace(
        "most_runs = 2", "most_runs = 30\nnoisy_runs = 100"
    )
    entries, _ = study(
        *[NOISY] * 45, *[QUIET] * 20, NOISY, QUIET, *[QUIET] * 5, plan=plan
    )
    waited = [bool(entry.noise) for entry in entries]
    # After twenty noisy runs, the next ones count, ...
    assert waited[:20] == [True] * 20
    assert not any(waited[20:50])
    assert sum(entry.counts for entry in entries) == 30


def test_noise_after_a_quiet_period_is_not_tolerated(study):
    plan = PLAN.replace("least_runs = 2", "least_runs = 40").replace(
        "most_runs = 2", "most_runs = 40\nnoisy_runs = 100"
    )
    runs = [NOISY] * 22 + [QUIET] * 20 + [NOISY] + [QUIET] * 20
    entries, _ = study(*runs, plan=plan)
    assert [bool(entry.noise) for entry in entries[20:43]] == [False] * 22 + [True]
