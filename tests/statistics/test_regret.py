# SPDX-License-Identifier: MIT
"""Regret against a known truth, with noise in which some choice is always lucky."""

from __future__ import annotations

import numpy
import pytest

from hasp.statistics.regret import as_measured, best, held_out

ROUNDS = 5


def noisy(truth: dict[str, float], seed: int) -> dict[str, list[float]]:
    """Values of each choice with lognormal noise of 10 %."""
    random = numpy.random.default_rng(seed)
    return {
        name: list(value * random.lognormal(0, 0.1, ROUNDS))
        for name, value in truth.items()
    }


def test_equal_choices_have_no_regret_on_average_but_the_best_of_40_is_lucky() -> None:
    truth = {f"lock{number}": 1.0 for number in range(40)}
    runs = [noisy(truth, seed) for seed in range(60)]
    lucky = numpy.median([as_measured(values, "lock0") for values in runs])
    fair = numpy.median([held_out(values, "lock0") for values in runs])
    assert lucky > 0.08
    assert fair < 0.04


def test_a_real_difference_is_found() -> None:
    truth = {"bad": 1.0, "good": 1.5, **{f"lock{n}": 1.0 for n in range(20)}}
    runs = [noisy(truth, seed) for seed in range(40)]
    found = [held_out(values, "bad") for values in runs]
    assert numpy.median(found) == pytest.approx(0.5, abs=0.1)
    assert numpy.median([held_out(values, "good") for values in runs]) == 0.0


def test_the_best_has_none() -> None:
    values = {"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]}
    assert best(values) == "b"
    assert held_out(values, "b") == as_measured(values, "b") == 0.0
    assert as_measured(values, "a") == pytest.approx(1.5)
    assert held_out(values, "a") == pytest.approx(1.5)


def test_few_runs_are_taken_as_they_are() -> None:
    values = {"a": [1.0], "b": [2.0]}
    assert held_out(values, "a") == pytest.approx(1.0)
    # A choice with fewer runs than the others competes in the rounds that it has.
    assert held_out({"a": [1.0] * 4, "b": [2.0, 2.0]}, "a") == pytest.approx(
        0.5, abs=0.5
    )
