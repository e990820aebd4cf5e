# SPDX-License-Identifier: MIT
"""Tests verdicts, corrections, collapse and interposition cost on known samples."""

from __future__ import annotations

import math

import numpy
import pytest
from scipy import stats

from hasp.statistics.collapse import collapsed
from hasp.statistics.contest import contest, hedges_g, holm, welch
from hasp.statistics.grid import Grid
from hasp.statistics.interposition import cost_of_interposing


def test_welch_agrees_with_scipy():
    one, other = [10.0, 11.0, 12.5, 9.0], [14.0, 13.0, 15.5]
    reference = stats.ttest_ind(one, other, equal_var=False).pvalue
    assert welch(one, other) == pytest.approx(reference)
    assert welch([1.0], other) == 1.0
    assert welch([2.0, 2.0], [2.0, 2.0]) == 1.0
    assert welch([2.0, 2.0], [3.0, 3.0]) == 0.0


def test_holm_by_hand():
    # 4 x 0.01, then 3 x 0.02 = 0.06; the following values are never smaller.
    assert holm([0.02, 0.01, 0.03, 0.9]) == pytest.approx([0.06, 0.04, 0.06, 0.9])
    assert holm([]) == []


def test_hedges_g_by_hand():
    # Means 1 apart, pooled deviation 1, corrected by 1 - 3 / (4 * 4 - 1).
    assert hedges_g([1, 2, 3], [2, 3, 4]) == pytest.approx(-0.8)
    assert hedges_g([1, 1], [2, 2]) == -math.inf
    assert math.isnan(hedges_g([1], [2, 3]))


def test_clear_differences_get_verdicts():
    found = contest(
        {
            "mcs": [100.0, 101.0, 99.0, 100.0],
            "clh": [97.0, 98.0, 99.0, 98.0],
            "tas": [50.0, 51.0, 49.0, 50.0],
        }
    )
    assert {lock: one.verdict for lock, one in found.items()} == {
        "mcs": "best",
        "clh": "same",
        "tas": "worse",
    }
    assert found["tas"].ratio == pytest.approx(0.5)


def test_noisy_runs_are_inconclusive():
    found = contest({"mcs": [100.0, 20.0, 190.0], "tas": [70.0, 150.0, 10.0]})
    assert found["tas"].verdict == "cannot tell"
    assert contest({"mcs": [2.0], "tas": [1.0]})["tas"].verdict == "cannot tell"
    assert contest({}) == {}


def test_equal_locks_seldom_get_a_verdict():
    """Of 100 studies of 28 equal locks, about 5 contain a "worse"."""
    source = numpy.random.default_rng(7)
    wrong = 0
    for _ in range(200):
        runs = {str(lock): source.normal(100, 8, 5).tolist() for lock in range(28)}
        wrong += any(one.verdict == "worse" for one in contest(runs).values())
    # Slightly more than 5 %, because the best of 28 is not a random one.
    assert wrong < 60


def test_a_lock_collapses_below_half_of_its_peak():
    values = numpy.array([[[10, 40, 21], [10, 40, 19], [10, math.nan, math.nan]]])
    grid = Grid(("x",), ("a", "b", "c"), (1, 2, 4), values)
    assert collapsed(grid).tolist() == [[False, True, False]]


def test_the_cost_of_interposition():
    cost = cost_of_interposing([1.0, 10.0, 100.0], [1.1, 11.0, 110.0])
    assert cost.ratio == pytest.approx(1.1)
    cost = cost_of_interposing([1, 2, 4, 8, 16], [1.02, 1.97, 4.01, 8.1, 15.9])
    assert cost.low < 1 < cost.high
    assert cost.p > 0.05
    cost = cost_of_interposing([1, 2, 4, 8, 16], [0.91, 1.77, 3.61, 7.1, 14.1])
    assert cost.high < 1
    assert cost.p < 0.01
    with pytest.raises(ValueError, match="two pairs"):
        cost_of_interposing([1.0], [1.0])
