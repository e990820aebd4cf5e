# SPDX-License-Identifier: MIT
"""Tests a study's statistics on a grid that is small enough to check by hand."""

from __future__ import annotations

import math

import numpy
import pytest

from hasp.statistics import sensitivity, standing, superiority
from hasp.statistics.correlation import correlations
from hasp.statistics.grid import Grid

NAN = math.nan
# Two programs, three locks, sizes 1, 2, 4. The second program was never run at 4, and
# never under the third lock.
GRID = Grid(
    ("db", "web"),
    ("a", "b", "c"),
    (1, 2, 4),
    numpy.array(
        [
            [[10, 20, 40], [10, 30, 20], [9, 9, 9]],
            [[5, 6, NAN], [5, 4, NAN], [NAN, NAN, NAN]],
        ]
    ),
)


def test_the_points_of_view():
    assert GRID.at("one").tolist()[0] == [10, 10, 9]
    numpy.testing.assert_array_equal(GRID.at("max"), [[40, 20, 9], [6, 4, NAN]])
    numpy.testing.assert_array_equal(GRID.at("opt"), [[40, 30, 9], [6, 5, NAN]])
    assert GRID.best_sizes().tolist() == [[4, 2, 1], [2, 1, 0]]
    with pytest.raises(ValueError, match="one of one, max, opt"):
        GRID.at("best")


def test_gain_and_deviation():
    gain = sensitivity.gain_of_best_over_worst(GRID.at("max"))
    assert gain == pytest.approx([40 / 9 - 1, 0.5])
    deviation = sensitivity.relative_deviation(GRID.at("max"))
    assert deviation[1] == pytest.approx(math.sqrt(2) / 5)
    assert deviation[0] == pytest.approx(numpy.std([40, 20, 9], ddof=1) / 23)
    assert sensitivity.sensitive_programs(GRID) == ["db", "web"]


def test_programs_that_do_not_vary_are_not_sensitive():
    grid = Grid(("x",), ("a", "b"), (1,), numpy.array([[[100.0], [101.0]]]))
    assert sensitivity.sensitive_programs(grid) == []


def test_coverage_and_harm_count_only_what_was_measured():
    means = GRID.at("max")
    assert standing.coverage(means).tolist() == [100, 0, 0]
    assert standing.harmful(means).tolist() == [0, 100, 100]
    nearly = numpy.array([[100.0, 95.0, 86.0]])
    assert standing.coverage(nearly).tolist() == [100, 100, 0]
    assert standing.harmful(nearly).tolist() == [0, 0, 100]


def test_a_lock_beats_another_by_more_than_five_percent():
    means = numpy.array([[105.0, 100.0], [106.0, 100.0], [NAN, 1.0]])
    shares = superiority.superiority(means)
    assert shares[0, 1] == 50
    assert shares[1, 0] == 0
    assert math.isnan(shares[0, 0])


def test_a_pair_changes_when_it_leaves_its_order():
    flags, known = superiority.changed(
        numpy.array([[10.0, 20.0]]), numpy.array([[20.0, 10.0]])
    )
    assert flags.sum() == 2
    assert known.sum() == 2
    assert superiority.share_of_changes(GRID.at("one"), GRID.at_size(2)).tolist() == [
        pytest.approx(100 * 2 / 6),
        pytest.approx(100),
    ]
    same = superiority.share_of_any_change([GRID.at("one"), GRID.at("one")])
    assert same.tolist() == [0, 0]


def test_correlation_of_two_metrics():
    double = Grid(GRID.programs, GRID.locks, GRID.sizes, 2 * GRID.values)
    assert correlations(GRID, double)["db"] == pytest.approx(1)
    inverse = Grid(GRID.programs, GRID.locks, GRID.sizes, -GRID.values)
    assert correlations(GRID, inverse)["web"] == pytest.approx(-1)
    flat = Grid(GRID.programs, GRID.locks, GRID.sizes, 0 * GRID.values)
    assert math.isnan(correlations(GRID, flat)["db"])
