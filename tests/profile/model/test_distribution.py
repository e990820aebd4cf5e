# SPDX-License-Identifier: MIT
"""Compares the quantiles of distributions with the durations; adds distributions."""

from __future__ import annotations

import numpy as np
import pytest
from profile_samples import distribution

from hasp.profile.model.distribution import NOTHING, Distribution

RANDOM = np.random.default_rng(5)
SKEWED = RANDOM.lognormal(8, 2, 10_000).astype(int)


@pytest.mark.parametrize("q", [0.01, 0.5, 0.9, 0.99, 0.999])
def test_quantiles_are_within_a_bucket(q: float) -> None:
    found = distribution(SKEWED).quantile(q)
    assert found is not None
    # A bucket spans a quarter of its lower bound, so the error is at most 25 %.
    assert found == pytest.approx(float(np.quantile(SKEWED, q)), rel=0.25)


def test_quantiles_rise_to_the_maximum() -> None:
    made = distribution(SKEWED)
    found = [made.quantile(q / 1000) or 0 for q in range(1001)]
    assert found == sorted(found)
    assert found[-1] == SKEWED.max()


def test_the_quantiles_of_one_duration_do_not_exceed_it() -> None:
    assert distribution([1000]).quantile(0.5) <= 1000  # type: ignore[operator]
    assert distribution([1000]).quantile(1) == 1000


def test_an_outdated_maximum_does_not_reverse_quantiles() -> None:
    lagging = Distribution((0, 5, 5), (0, 10, 20, 40), 200, 3, 10)
    assert lagging.quantile(0.9) == lagging.quantile(1) == 20
    assert lagging.quantile(0.5) == 20


def test_missing_measurements_are_none() -> None:
    for nothing in (NOTHING, distribution([])):
        assert nothing.quantile(0.5) is None
        assert nothing.mean_ns is None
        assert nothing.timed == 0


def test_the_mean_covers_all_even_if_few_were_timed() -> None:
    assert distribution([100, 300], number=10, total=2500).mean_ns == 250


def test_sums_are_those_of_the_durations() -> None:
    both = distribution(SKEWED[:100]) + distribution(SKEWED[100:])
    assert both == distribution(SKEWED)
    assert both + NOTHING == NOTHING + both == both


def test_distributions_of_different_clocks_do_not_add() -> None:
    other = Distribution((1, 2), (0, 1, 2), 3, 2, 3)
    with pytest.raises(ValueError, match="clocks"):
        _ = distribution([1]) + other
