# SPDX-License-Identifier: MIT
"""Pairs of subjects that measurements tell apart, and the share in order."""

import numpy
import pytest
import scipy

from hasp.statistics.apart import APART_BELOW, pairs_apart, share_in_order

RUNS = {"fast": [9.0, 10.0, 11.0], "same": [9.1, 10.1, 11.1], "slow": [1.0, 1.1, 0.9]}


def test_pairs_apart_are_those_whose_difference_is_not_noise() -> None:
    assert pairs_apart(RUNS) == [("fast", "slow"), ("same", "slow")]
    assert pairs_apart({"one": [1.0, 1.0], "other": [2.0, 2.0]}) == [("other", "one")]
    assert pairs_apart({"one": [1.0, 1.0], "other": [1.0, 1.0]}) == []
    assert pairs_apart({"one": [1.0], "other": [2.0, 2.0]}) == []


def test_the_chance_is_that_of_welch() -> None:
    generator = numpy.random.default_rng(3)
    for _ in range(200):
        one = generator.normal(0, 1, 4).tolist()
        other = generator.normal(1.5, 2, 5).tolist()
        chance = scipy.stats.ttest_ind(one, other, equal_var=False).pvalue
        assert bool(pairs_apart({"a": one, "b": other})) == (chance < APART_BELOW)


def test_equal_subjects_are_seldom_told_apart() -> None:
    generator = numpy.random.default_rng(5)
    runs = {str(n): generator.normal(100, 5, 5).tolist() for n in range(60)}
    pairs = 60 * 59 / 2
    assert len(pairs_apart(runs)) < 2 * APART_BELOW * pairs


def test_ties_and_missing_figures_count_as_half() -> None:
    pairs = [("fast", "slow"), ("same", "slow")]
    assert share_in_order(pairs, {"fast": 3, "same": 2, "slow": 1}) == 1
    assert share_in_order(pairs, {"fast": 3, "same": 0, "slow": 1}) == 0.5
    assert share_in_order(pairs, {"fast": 3, "slow": 3}) == 0.5
    assert share_in_order(pairs, {}) == 0.5
    assert share_in_order([], {"fast": 1}) is None


@pytest.mark.parametrize("order", [1, -1])
def test_an_order_is_right_or_reversed(order: int) -> None:
    figures = {"fast": order * 3.0, "same": order * 2.0, "slow": order * 1.0}
    assert share_in_order(pairs_apart(RUNS), figures) == (order > 0)
