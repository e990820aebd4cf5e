# SPDX-License-Identifier: MIT
"""Scores of `hasp predict --validate`, and the campaign that it reads."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from predict_samples import closed

from hasp.base.errors import HaspError
from hasp.base.output import STDOUT
from hasp.lab.simulate.machines.machine import load
from hasp.lab.simulate.simulation import flattened
from hasp.locks import native
from hasp.locks.kinds import MUTEX
from hasp.predict.runs import Case, Runs, variants
from hasp.predict.validation.a64 import measured_by, subjects, validate_study
from hasp.predict.validation.measured import Measured
from hasp.predict.validation.programs import Program, programs_of, record, split
from hasp.predict.validation.published import FORMS
from hasp.predict.validation.report import report, report_study
from hasp.predict.validation.run import MACHINE, STUDY, with_mutexes
from hasp.predict.validation.score import (
    mean_tau,
    mean_tau_of_all,
    pairs_in_order,
    right,
    right_beyond_noise,
    score,
    with_runs,
)

ROOT = Path(__file__).resolve().parents[2]
MATTERS = {"a": 100.0, "b": 50.0, "c": 10.0}
EQUAL = {"a": 100.0, "b": 100.0, "c": 99.0}


def test_the_same_order_has_a_tau_of_one_and_the_reverse_minus_one() -> None:
    reverse = dict(zip(MATTERS, reversed(MATTERS.values()), strict=True))
    assert score("p", MATTERS, MATTERS, "").tau == pytest.approx(1)
    assert score("p", MATTERS, reverse, "").tau == pytest.approx(-1)


def test_programs_to_which_the_lock_does_not_matter_have_no_say_in_tau() -> None:
    scores = [score("p", MATTERS, MATTERS, ""), score("q", EQUAL, MATTERS, "")]
    assert mean_tau(scores) == pytest.approx(1)
    assert right(scores) == 1


def test_a_program_without_a_prediction_counts_as_one_without_an_order() -> None:
    scores = [score("p", MATTERS, MATTERS, ""), score("q", MATTERS, {}, "no lock")]
    assert mean_tau(scores) == pytest.approx(0.5)
    assert right(scores) == 1


def test_a_missed_level_is_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    fine = [score(str(n), MATTERS, MATTERS, "") for n in range(12)]
    assert report(fine, STDOUT) == 0
    assert report([*fine[3:], *(score("p", MATTERS, EQUAL, "") for _ in "abc")], None)
    rows = [line for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    assert json.loads(rows[0])["schema"] == "hasp.predict.validate/1"


def test_pairs_that_noise_decides_are_not_judged() -> None:
    runs = {lock: [0.9 * mean, mean, 1.1 * mean] for lock, mean in EQUAL.items()}
    runs |= {"c": [9.0, 10.0, 11.0], "unknown": [1.0, 1.0]}
    predicted = {"a": 1.0, "b": 2.0, "c": 0.5}
    own = with_runs(score("p", MATTERS, predicted, ""), runs, predicted)
    assert (own.apart, own.in_order) == (2, 1.0)  # a and b are a tie
    none = with_runs(score("q", MATTERS, {}, "no lock"), runs, {})
    assert none.in_order == 0.5
    equal = score("r", EQUAL, EQUAL, "")  # the lock does not matter
    share, pairs = pairs_in_order([own, none, equal])
    assert pairs == 2 + none.apart
    assert share == pytest.approx((2 + 0.5 * none.apart) / pairs)


def test_a_program_to_which_the_lock_matters_by_noise_only() -> None:
    runs = {lock: [10.0, 100.0, 190.0] for lock in MATTERS}
    own = with_runs(score("p", MATTERS, EQUAL, ""), runs, EQUAL)
    assert right([own]) == 0
    assert right_beyond_noise([own]) == 1
    quiet = {lock: [mean, mean, mean] for lock, mean in MATTERS.items()}
    own = with_runs(own, quiet, EQUAL)
    assert own.beyond_noise == pytest.approx(own.measured)
    assert right_beyond_noise([own]) == 0


def test_a_perfect_prediction_would_agree_better_than_halves_of_the_runs_do() -> None:
    study = Measured()
    for program in ("node", "rocksdb", "sysbench mutex"):
        ceiling, repeated = study.ceiling(program), study.repeated(program)
        assert ceiling and repeated and repeated + 0.1 < ceiling < 0.9
    assert study.ceiling("memcached") == 0


def test_a_load_with_mutexes_has_no_reader_writer_locks() -> None:
    load = closed(100.0, 10.0)
    rwlock = replace(load.sites[0], rwlock=True)
    changed = with_mutexes(replace(load, sites=(rwlock,)))
    assert changed.kind is MUTEX


def test_the_study_has_twelve_programs_and_a_machine() -> None:
    programs, prepare = programs_of(ROOT / STUDY / "plan.toml")
    assert len(programs) == 12
    assert "mkdir" in prepare
    assert load(str(ROOT / MACHINE)).topology.cpus == 2
    assert [one.name for one in programs if one.server] == ["memcached"]


def test_a_command_gets_one_thread_and_its_environment() -> None:
    words, environment = split("env POOL={threads} prog -t {threads} 'a b'")
    assert words == ["prog", "-t", "1", "a b"]
    assert environment == {"POOL": "1"}


def test_a_program_that_is_not_installed_is_named(tmp_path: Path) -> None:
    """Without it, no trace would count as a program that takes no lock."""
    missing = Program("packer", "no-such-packer -p {threads}", None, None)
    with pytest.raises(HaspError, match="no program no-such-packer"):
        record(missing, tmp_path / "packer.trace")


def write_study(folder: Path, *rows: str) -> Path:
    path = folder / "A64.csv"
    path.write_text("\n".join(("bench,node,strategy,throughput", *rows)) + "\n")
    return path


def test_the_lock_study_is_read_under_the_names_of_hasp(tmp_path: Path) -> None:
    rows = ("dedup,8,pthread,2", "dedup,8,mcs_stp,3", "dedup,8,mcs_stp,5")
    runs = measured_by(write_study(tmp_path, *rows))
    assert runs["dedup", 8] == {"futex": [2.0], "mcs-park": [3.0, 5.0]}


def test_another_file_than_the_lock_studys_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "A64.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(HaspError, match="lacks a column of bench"):
        measured_by(other)
    with pytest.raises(HaspError, match="there is no file"):
        measured_by(tmp_path / "missing.csv")
    for row in ("dedup,8,mcs_stp,fast", "dedup,all,mcs_stp,3", "dedup,8,mcs_stp"):
        with pytest.raises(HaspError, match="not the lock study's: line 2"):
            measured_by(write_study(tmp_path, row))
    other.write_bytes(b"HASP\xa9\x00")
    with pytest.raises(HaspError, match="not the lock study's: line 1"):
        measured_by(other)
    one = write_study(tmp_path, "kyotocabinet,8,mcs_stp,3")  # a single run
    with pytest.raises(HaspError, match="it lacks memcached-new with"):
        validate_study(tmp_path / "recordings", one, None)


def test_the_plan_names_measurements_of_the_lock_study() -> None:
    path = ROOT.parent / "shared/reference/litl-datasets/A64.csv"
    if not path.exists():
        pytest.skip("the lock study's data are not here")
    runs = measured_by(path)
    plan = subjects()
    assert len(plan) == 4
    for one in plan:
        assert len(runs[one.application, one.nodes]) > 20
        assert one.threads in (8 * one.nodes, 24 * one.nodes)
    assert {one.program.name for one in plan if one.assumed.mutexes} == {"kyotocabinet"}
    assert {one.program.name for one in plan if one.assumed.busy} == {"memcached"}


def test_locks_as_published_are_scored_with_hasps_code_beside() -> None:
    reverse = dict(zip(MATTERS, reversed(MATTERS.values()), strict=True))
    shipped = {**reverse, "other": 1.0}
    made = score("p", MATTERS, MATTERS, "", None, shipped)
    assert (made.forms, made.tau) == (len(MATTERS), pytest.approx(1))
    assert made.tau_shipped == pytest.approx(-1)
    assert made.predicted_shipped == pytest.approx(made.predicted)
    assert mean_tau_of_all([made]) == pytest.approx(1)
    assert mean_tau_of_all([made], shipped=True) == pytest.approx(-1)
    assert score("p", MATTERS, MATTERS, "").tau_shipped is None


def test_the_order_of_locks_as_published_decides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reverse = dict(zip(MATTERS, reversed(MATTERS.values()), strict=True))
    assert report_study([score("p", MATTERS, MATTERS, "", None, reverse)], None) == 0
    assert (
        "with Hasp's code, mean tau of all programs: -1.00" in capsys.readouterr().out
    )
    assert report_study([score("p", MATTERS, reverse, "", None, MATTERS)], STDOUT) == 1
    row = json.loads(capsys.readouterr().out)
    assert (row["tau"], row["tau_shipped"]) == (pytest.approx(-1), pytest.approx(1))


def test_each_mutex_lock_of_the_study_has_a_published_form() -> None:
    study = {
        "futex" if lock.is_reference else lock.name
        for lock in native.locks()
        if lock.aliases
    }
    assert FORMS.keys() == study
    assert len(FORMS) == 28


def test_published_forms_execute_a_load() -> None:
    plain = closed(100.0, 10.0)
    meeting = replace(plain, sites=(replace(plain.sites[0], meets=True),))
    machine = load(str(ROOT / MACHINE))
    tried = set(FORMS.values()) - {"litl-clh", "litl-clh-park", "litl-clh-prefetch"}
    tried -= {"litl-hticket"}  # those cannot leave by trylock
    with flattened(machine) as path:
        runs = Runs(plain, machine, path).of_published()
        for simulated, locks in (
            (runs, set(FORMS.values())),
            (runs.of(meeting), tried),
        ):
            cases = [Case(lock, 2, one) for lock in locks for one in variants(1)[:1]]
            done = simulated.run(cases, 1)
            assert all(outcome.throughput > 0 for outcome in done.values())


def test_the_mean_over_all_programs_counts_a_missing_order_as_none() -> None:
    scores = [score("p", MATTERS, MATTERS, ""), score("q", EQUAL, {}, "")]
    assert mean_tau_of_all(scores) == pytest.approx(0.5)
    assert mean_tau_of_all([]) == 0


def test_a_command_gets_the_threads_and_programs_of_the_build() -> None:
    words, _ = split("hasp-shapes barrier --threads={threads}", 2)
    assert words[0].endswith("/hasp-shapes")
    assert words[1:] == ["barrier", "--threads=2"]
