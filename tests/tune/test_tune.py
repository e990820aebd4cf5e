# SPDX-License-Identifier: MIT
"""`hasp tune` finds the best lock, and states what is proven about it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tune.conftest import Tuned
from waiting import wait_until

NOISE = 1.02  # of the program's rate, at most
FEW = ("--locks", "mcs-park,spinbit,mutexee,u-scl,futex", "--no-plans")
Tune = Callable[..., Tuned]


def test_the_best_lock_is_found_and_proven(tune: Tune) -> None:
    found = tune(*FEW)
    assert found.status == 0, found.errors
    assert found.result["best"] == "spinbit"
    assert found.result["proven"]
    assert found.result["ended"] == "proven"
    ratio = found.result["to_glibc"]
    # One interval in twenty does not contain the true ratio.
    assert ratio["low"] / NOISE < 1.5 < ratio["high"] * NOISE
    assert "hasp run --lock spinbit -- " in found.text
    assert "Proven: with 95 % confidence" in found.text
    assert found.candidate("mutexee")["standing"] == "worse"


@pytest.mark.slow
def test_every_lock_of_the_list_races_with_fewer_runs_than_a_comparison(
    tune: Tune,
) -> None:
    found = tune("--no-plans", "--budget", "90s")
    assert found.status == 0, found.errors
    assert found.result["best"] == "spinbit"
    assert found.result["candidates"] > 40
    assert found.result["runs"] < 5 * found.result["candidates"]


def test_fewer_runs_leave_the_best_so_far_unproven(tune: Tune) -> None:
    found = tune(*FEW, "--runs", "8")
    assert found.status == 0, found.errors
    assert found.result["ended"] == "runs"
    assert not found.result["proven"]
    assert found.result["runs"] <= 8
    assert "Not proven" in found.text


def test_a_race_is_resumed_from_its_store(tune: Tune) -> None:
    earlier = tune(*FEW, "--runs", "8").result["runs"]
    again = tune(*FEW, "--resume")
    assert again.status == 0, again.errors
    assert again.result["proven"]
    assert again.result["runs"] > earlier
    assert f"{earlier} of them earlier" in again.text


def test_the_race_of_another_command_is_not_resumed(tune: Tune) -> None:
    tune(*FEW, "--runs", "8")
    other = tune(*FEW, "--resume", words=("3",))
    assert other.status == 2
    assert "belongs to a different race: its command differs" in other.errors


def test_nothing_to_resume_is_an_error(tune: Tune) -> None:
    found = tune(*FEW, "--resume", "--store", "absent.jsonl")
    assert found.status == 2
    assert "absent.jsonl does not exist" in found.errors
    assert not (found.folder / "absent.jsonl").exists()


def test_thread_counts_race_as_well(tune: Tune) -> None:
    found = tune(*FEW, "--threads", "1,2", words=("{threads}",))
    assert found.status == 0, found.errors
    assert (found.result["best"], found.result["threads"]) == ("spinbit", 2)
    assert found.text.rstrip().endswith("rates 2")


def test_a_required_limit_excludes_the_fastest(tune: Tune) -> None:
    # The latency is 1e5 / rate: 667 us under spinbit, 833 us under mutexee.
    found = tune(
        *FEW,
        *("--metric", r"rate=rate: ([0-9.]+)"),
        *("--metric", r"p99=p99: ([0-9.]+)", "--unit", "us", "--lower-is-better"),
        *("--require", "p99 > 0.7 ms"),
    )
    assert found.status == 0, found.errors
    assert found.result["best"] == "mutexee"
    assert found.candidate("spinbit")["reason"] == "not p99 > 0.7 ms"
    assert "p99 > 0.7 ms: kept in " in found.text


def test_a_limit_that_no_candidate_keeps_is_a_finding(tune: Tune) -> None:
    found = tune(*FEW, "--require", "rate > 1000")
    assert found.status == 1, found.errors
    assert found.result["best"] is None
    assert "No candidate is left" in found.text


def test_a_metric_that_one_lock_lacks_takes_it_out(tune: Tune, rates: Path) -> None:
    rates.write_text("spinbit 150\nmutexee -1\n")
    found = tune(*FEW)
    assert found.status == 0, found.errors
    assert found.candidate("mutexee")["standing"] == "out"
    assert "no figure" in found.candidate("mutexee")["reason"]
    assert found.result["best"] == "spinbit"


def test_a_metric_that_is_never_printed_is_refused(tune: Tune) -> None:
    found = tune(*FEW, "--metric", "speed ([0-9]+)")
    assert found.status == 2
    assert "no match" in found.errors


def test_a_lock_that_hangs_is_out(tune: Tune, rates: Path) -> None:
    rates.write_text("spinbit 150\nticket 0\n")
    found = tune("--locks", "ticket,spinbit,futex", "--no-plans", "--timeout", "2s")
    assert found.status == 0, found.errors
    assert found.candidate("ticket")["standing"] == "out"
    assert found.candidate("ticket")["reason"].startswith("hung")
    assert found.result["best"] == "spinbit"


def test_a_program_that_never_ends_is_refused(tune: Tune, rates: Path) -> None:
    rates.write_text("glibc 0\n")
    found = tune(*FEW, "--timeout", "1s")
    assert found.status == 2
    assert "did not end within 1 s" in found.errors


def test_a_budget_too_small_for_a_round_is_refused(
    tune: Tune, program: Path, tmp_path: Path
) -> None:
    """One run fits even on a busy machine; six never do."""
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\nsleep 0.5\nexec {program} "$@"\n')
    slow.chmod(0o755)
    found = tune(*FEW, "--budget", "2s", command=str(slow))
    assert found.status == 2
    assert "is too small for one round" in found.errors
    assert "--budget" in found.errors.splitlines()[-1]


def test_too_few_runs_for_a_round_are_refused(tune: Tune) -> None:
    found = tune(*FEW, "--runs", "2")
    assert found.status == 2
    assert "--runs 2 is too few for one round of 6 candidates" in found.errors


def test_a_single_candidate_is_refused(tune: Tune) -> None:
    found = tune("--locks", "glibc")
    assert found.status == 2
    assert "glibc is the only candidate" in found.errors


def test_an_unknown_measure_is_refused(tune: Tune) -> None:
    found = tune(*FEW, "--require", "p98 < 2 ms")
    assert found.status == 2
    assert "there is no measure called 'p98'" in found.errors


def test_plans_for_two_sites_join_the_race(tune: Tune, rates: Path) -> None:
    rates.write_text("spinbit 150\nplan 300\n")
    found = tune("--locks", "spinbit,mutexee,futex")
    assert found.status == 0, found.errors
    if "plans join" not in found.errors:
        assert "mu" not in found.result["best"]  # the threads never met at one mutex
        return
    assert found.result["best"].startswith("plan:")
    assert (found.folder / "hasp.plan.toml").exists()
    assert "hasp run --plan hasp.plan.toml -- " in found.text


def test_after_ctrl_c_the_best_so_far_is_reported(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, rates: Path
) -> None:
    # If no difference can be proven, the race continues until it is stopped.
    rates.write_text("")
    store = tmp_path / "hasp.tune.jsonl"

    def many_runs() -> bool:
        return store.exists() and store.read_text().count('"kind":"run"') > 8

    command = ("--metric", r"rate=rate: [0-9]+\.([0-9]+)")  # only noise
    with start(*FEW, *command) as process:
        wait_until(many_runs)
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Interrupted after" in text
    assert "is the best so far" in text


def test_ctrl_c_during_the_recording_is_not_silent(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, rates: Path
) -> None:
    rates.write_text("glibc 0\n")  # the program never ends
    with start(*FEW) as process:
        wait_until(lambda: (tmp_path / "hasp.trace").exists())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted while a run was recorded" in errors
