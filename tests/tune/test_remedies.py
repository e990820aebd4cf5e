# SPDX-License-Identifier: MIT
"""The messages of `hasp tune` name the input and the remedy."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from tune.conftest import Tuned

FEW = ("--locks", "mcs-park,spinbit,mutexee,u-scl,futex", "--no-plans")
Tune = Callable[..., Tuned]


def test_the_budget_limits_the_recording(tune: Tune, rates: Path) -> None:
    rates.write_text("glibc 0\n")  # never ends
    found = tune(*FEW, "--budget", "1s")
    assert found.status == 2
    assert "the budget of 1.00 s is spent" in found.errors
    assert "--budget" in found.errors.splitlines()[-1]


def test_a_metric_that_is_missing_is_to_be_corrected(tune: Tune) -> None:
    found = tune(*FEW, "--metric", r"speed (\d+)")
    assert found.status == 2
    assert r"no match of speed (\d+)," in found.errors
    assert "correct --metric" in found.errors


def test_a_program_that_fails_is_to_be_run_without_hasp(
    tune: Tune, rates: Path
) -> None:
    rates.unlink()  # the program crashes
    found = tune(*FEW)
    assert found.status == 2
    assert "run it without Hasp first" in found.errors


def test_where_no_trace_fits_the_program_is_not_blamed(tune: Tune) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        found = tune(*FEW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert found.status == 2
    assert "nothing was recorded: files may have at most" in found.errors


def test_an_error_in_a_later_round_does_not_hide_the_best_so_far(tune: Tune) -> None:
    # The recording and the six candidates of the first round come first.
    prepare = "echo x >> count; [ $(wc -l < count) -lt 9 ] || { echo full; exit 9; }"
    found = tune(*FEW, "--prepare", prepare)
    assert found.status == 2
    assert "exit status 9: full" in found.errors
    assert found.result["ended"] == "error"
    assert found.result["best"] == "spinbit"
    assert "Ended after 7 runs in" in " ".join(found.text.split())


def test_short_runs_get_advice(tune: Tune) -> None:
    found = tune(*FEW, "--runs", "8")
    assert "warning: a run takes only" in found.text
    assert "give it work for 0.2 s or more" in " ".join(found.text.split())


@pytest.mark.slow
def test_the_budget_limits_the_first_run_if_there_is_a_trace(
    tune: Tune, rates: Path
) -> None:
    tune(*FEW, "--runs", "8")
    rates.write_text("glibc 0\n")  # never ends
    found = tune(*FEW, "--budget", "2s", "--trace", "hasp.trace")
    assert found.status == 2
    assert "did not end within 2 s" in found.errors
    assert "--budget" in found.errors.splitlines()[-1]
