# SPDX-License-Identifier: MIT
"""Tests ratios, intervals and outliers of samples with known answers."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings

import numpy
import pytest
from scipy.stats import sem
from scipy.stats import t as student

from hasp.statistics import outliers, ratio_of_medians
from hasp.statistics.narrow import half_width, half_widths
from hasp.statistics.ratio import median_of_ratios


@pytest.fixture(autouse=True)
def no_warnings():
    """Degenerate samples are common, and must not print warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_scipy_is_loaded_at_its_first_use():
    """A refused command must not spend half a second on loading scipy.stats."""
    code = (
        "import importlib, pkgutil, sys, hasp.statistics as package\n"
        "for module in pkgutil.iter_modules(package.__path__, 'hasp.statistics.'):\n"
        "    importlib.import_module(module.name)\n"
        "print(*sorted({'scipy', 'scipy.special', 'scipy.stats'} & set(sys.modules)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert loaded.split() == ["scipy"]


def test_the_ratio_is_that_of_the_medians():
    ratio = ratio_of_medians([1, 2, 30], [4, 4, 4])
    assert ratio.value == 0.5
    assert ratio.blocks == 3


def test_the_interval_of_constant_samples_is_a_point():
    ratio = ratio_of_medians([3.0] * 7, [2.0] * 7)
    assert (ratio.value, ratio.low, ratio.high) == (1.5, 1.5, 1.5)
    assert ratio.above
    assert not ratio.below


def test_equal_samples_have_the_ratio_one():
    samples = [1.0, 5.0, 2.0, 9.0, 3.0, 4.0]
    ratio = ratio_of_medians(samples, samples)
    assert (ratio.value, ratio.low, ratio.high) == (1.0, 1.0, 1.0)


def test_disturbances_of_whole_blocks_do_not_widen_the_interval():
    # Blocks differ tenfold in speed, and the lock costs 20 % in each of them.
    blocks = [1.0, 10.0, 2.0, 7.0, 3.0, 5.0, 4.0]
    ratio = ratio_of_medians([1.2 * speed for speed in blocks], blocks)
    assert ratio.low == pytest.approx(1.2)
    assert ratio.high == pytest.approx(1.2)
    # The same samples paired differently have a wide interval.
    shuffled = ratio_of_medians(
        [1.2 * speed for speed in blocks[3:] + blocks[:3]], blocks
    )
    assert shuffled.high - shuffled.low > 0.5


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_the_interval_covers_the_truth(scale):
    """For noisy samples with a known ratio, about 95 of 100 intervals contain it."""
    source = numpy.random.default_rng(20)
    covered = 0
    for trial in range(100):
        speed = source.lognormal(0.0, 0.3, 15)
        top = scale * speed * source.lognormal(0.0, 0.1, 15)
        bottom = speed * source.lognormal(0.0, 0.1, 15)
        ratio = ratio_of_medians(top, bottom, resamples=600, seed=trial)
        covered += ratio.low <= scale <= ratio.high
    assert 88 <= covered <= 100


def test_the_same_seed_gives_the_same_interval():
    top, bottom = [1.0, 2.0, 4.0, 3.0, 7.0], [2.0, 2.5, 1.0, 3.0, 2.0]
    first = ratio_of_medians(top, bottom, seed=3)
    assert first == ratio_of_medians(top, bottom, seed=3)
    assert first.low < first.value < first.high


def test_one_pair_has_no_interval_and_none_no_ratio():
    single = ratio_of_medians([3.0], [2.0])
    assert (single.value, single.low, single.high) == (1.5, None, None)
    assert math.isnan(ratio_of_medians([], []).value)


def test_zeros():
    assert ratio_of_medians([0.0] * 5, [0.0] * 5).value == 1.0
    assert ratio_of_medians([0.0] * 5, [2.0] * 5).high == 0.0
    beyond = ratio_of_medians([1.0] * 5, [0.0] * 5)
    assert (beyond.value, beyond.low, beyond.high) == (math.inf, math.inf, math.inf)
    mixed = ratio_of_medians([1.0] * 5, [0.0, 0.0, 1.0, 1.0, 1.0])
    assert mixed.value == 1.0
    assert mixed.high == math.inf


def test_unequal_series_are_an_error():
    with pytest.raises(ValueError, match="equally long"):
        ratio_of_medians([1.0, 2.0], [1.0])


def test_outliers():
    assert outliers([1.0, 1.01, 0.99, 1.0, 1.02, 9.0]) == [5]
    assert outliers([1.0, 1.0, 1.0, 1.0, 5.0]) == [4]
    assert outliers([1.0, 1.1, 0.9, 1.05, 0.95]) == []
    # Too few samples and scatter below 5 % have no outliers.
    assert outliers([1.0, 1.0, 5.0]) == []
    assert outliers([1.0, 1.0, 1.0, 1.0, 1.04]) == []
    assert outliers([]) == []


def test_the_interval_of_a_mean():
    """The expected values are from scipy, for single samples and many at once."""
    source = numpy.random.default_rng(2)
    samples = [source.normal(50, 4, size) for size in (2, 5, 30)]
    many = half_widths(
        *(
            numpy.array([of(sample) for sample in samples])
            for of in (numpy.mean, lambda one: numpy.std(one, ddof=1), len)
        )
    )
    for sample, width in zip(samples, many, strict=True):
        low, high = student.interval(0.95, len(sample) - 1, sample.mean(), sem(sample))
        assert half_width(sample) == pytest.approx((high - low) / 2 / sample.mean())
        assert width == pytest.approx(half_width(sample))
    assert half_width([3.0]) == math.inf == half_width([-1.0, 1.0])
    assert half_width([0.0, 0.0]) == half_width([7.0, 7.0]) == 0.0
    assert numpy.isnan(half_widths(*numpy.array([[1.0], [numpy.nan], [1.0]])))


def test_the_median_of_ratios_is_not_misled_by_two_speeds():
    """Five blocks of nine are slow; in the last one, the speed changes midway."""
    reference = [100.0] * 4 + [20.0] * 5
    sample = [110.0] * 4 + [22.0] * 4 + [110.0]
    assert ratio_of_medians(sample, reference).value == 5.5
    ratio = median_of_ratios(sample, reference)
    assert ratio.value == ratio.low == pytest.approx(1.1)
    assert ratio.high == pytest.approx(1.1)


def test_the_interval_of_the_sign_test():
    """Conover's table: of 15 pairs, the fourth from each end."""
    ratios = [1 + number / 100 for number in range(15)]
    ratio = median_of_ratios(ratios, [1.0] * 15)
    assert (ratio.low, ratio.value, ratio.high) == (1.03, 1.07, 1.11)
    assert median_of_ratios(ratios[:5], [1.0] * 5).low is None
    assert math.isnan(median_of_ratios([], []).value)
