# SPDX-License-Identifier: MIT
"""The intervals of a comparison hold simultaneously, whatever the runs look like."""

from __future__ import annotations

import math

import numpy
import pytest

from hasp.statistics.simultaneous import (
    FEWEST_ROUNDS,
    POWER,
    Contrast,
    contrasts,
    estimate,
    quantile,
    ratio_without_interval,
)

LOCKS = 46  # including the reference
LEVEL = 0.05


def normal(source, shape):
    return source.normal(0, 0.05, shape)


def skewed(source, shape):
    return numpy.log1p(source.exponential(0.3, shape))


def heavy_tailed(source, shape):
    return numpy.log1p(source.pareto(1.5, shape))


def bimodal(source, shape):
    """Return runs of which half take twice as long."""
    slow = source.random(shape) < 0.5
    return math.log(2) * slow + source.normal(0, 0.02, shape)


def with_outliers(source, shape):
    slow = source.random(shape) < 0.05
    return math.log(5) * slow + source.normal(0, 0.02, shape)


def drifting(source, shape):
    """Return a random walk through all runs, with each round in random order."""
    trials, rounds, locks = shape
    walk = source.normal(0, 0.0125, (trials, rounds * locks)).cumsum(axis=1)
    found = source.permuted(walk.reshape(shape), axis=2)
    return found + source.normal(0, 0.025, shape)


def of_different_noise(source, shape):
    """Return locks whose standard deviations differ by a factor of ten and more."""
    deviations = numpy.exp(source.normal(0, 1, (shape[0], 1, shape[2])))
    return 0.05 * deviations * source.normal(0, 1, shape)


def with_few_noisy_locks(source, shape):
    deviations = numpy.where(numpy.arange(shape[2]) < shape[2] - 3, 0.05, 1.0)
    return deviations * source.normal(0, 1, shape)


def with_a_noisy_reference(source, shape):
    deviations = numpy.where(numpy.arange(shape[2]) == 0, 0.5, 0.05)
    return deviations * source.normal(0, 1, shape)


SHAPES = (
    normal,
    skewed,
    heavy_tailed,
    bimodal,
    with_outliers,
    drifting,
    of_different_noise,
    with_few_noisy_locks,
    with_a_noisy_reference,
)


def wrong_share(runs, truth=0.0):
    """Return the share of comparisons with an interval that misses the true ratio."""
    means, errors, freedom = estimate(runs)
    reach = quantile(freedom, runs.shape[-1] - 1) * errors
    return (abs(means - truth) > reach).any(axis=-1).mean()


def assert_level(share, trials):
    """Assert that at most 5 % are wrong, within three standard errors."""
    assert share <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / trials)


@pytest.mark.parametrize("rounds", [7, 10, 15])
@pytest.mark.parametrize("shape", SHAPES)
def test_at_most_one_in_twenty_comparisons_of_equal_locks_is_wrong(shape, rounds):
    source = numpy.random.default_rng(7)
    trials = 600
    for locks in (2, 12, LOCKS):
        runs = shape(source, (trials, rounds, locks))
        assert_level(wrong_share(runs), trials)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [5, 6, 7, 8, 10, 12, 15])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_level_in_many_comparisons(shape, rounds):
    source = numpy.random.default_rng(11)
    trials = 10_000
    for locks in (2, 4, 8, 12, 24, LOCKS):
        runs = shape(source, (trials, rounds, locks))
        assert_level(wrong_share(runs), trials)


@pytest.mark.parametrize("shape", SHAPES)
def test_locks_that_differ_do_not_disturb_the_others(shape):
    """Half of the locks are slower by up to a factor of 100; every interval counts."""
    source = numpy.random.default_rng(13)
    trials = 600
    truth = numpy.where(numpy.arange(LOCKS) % 2, numpy.linspace(0, 4.6, LOCKS), 0.0)
    runs = shape(source, (trials, 7, LOCKS)) + truth
    assert_level(wrong_share(runs, truth[1:]), trials)


def test_runs_of_a_verdict_find_what_they_promise():
    """The detectable difference is found with the stated probability or more."""
    source = numpy.random.default_rng(17)
    found = 0
    for _ in range(100):
        runs = numpy.exp(source.normal(0, 0.05, (7, LOCKS)))
        samples = {f"{lock}": dict(enumerate(runs[:, lock])) for lock in range(LOCKS)}
        promise = contrasts(samples, "0", LOCKS - 1)["1"].detectable
        slower = {one: value * (1 + promise) for one, value in samples["1"].items()}
        ratio = contrasts({**samples, "1": slower}, "0", LOCKS - 1)["1"].ratio
        found += ratio.above
    assert found >= 100 * POWER - 3 * math.sqrt(100 * POWER * (1 - POWER))


def test_many_locks_find_smaller_differences_than_their_own_pairs_would():
    source = numpy.random.default_rng(19)
    runs = source.normal(0, 0.05, (300, 7, LOCKS))
    _, errors, freedom = estimate(runs)
    pairs = runs[..., 1:] - runs[..., :1]
    alone = quantile(6, LOCKS - 1) * pairs.std(axis=-2, ddof=1) / math.sqrt(7)
    together = quantile(freedom, LOCKS - 1) * errors
    assert numpy.median(together) < 0.7 * numpy.median(alone)


def test_rounds_to_detect_are_enough():
    contrast = Contrast(0.0, 0.02, 6, 7, 45)
    rounds = contrast.rounds_to_detect(0.05)
    error = 0.02 * math.sqrt(7 / rounds)
    assert Contrast(0.0, error, rounds - 1, rounds, 45).detectable <= 0.05
    error = 0.02 * math.sqrt(7 / (rounds - 1))
    assert Contrast(0.0, error, rounds - 2, rounds - 1, 45).detectable > 0.05
    assert Contrast(0.0, 9.0, 6, 7, 45).rounds_to_detect(0.05) is None


def test_few_rounds_give_no_interval():
    for rounds in range(1, FEWEST_ROUNDS + 1):
        samples = {
            lock: {one: 1.0 + 0.01 * one for one in range(rounds)} for lock in "ab"
        }
        found = contrasts(samples, "a", 1)
        assert len(found) == (rounds >= 2)
        for contrast in found.values():
            assert (contrast.ratio.low is not None) == (rounds == FEWEST_ROUNDS)


def test_a_lock_that_lacks_rounds_is_compared_by_its_pairs():
    source = numpy.random.default_rng(23)
    samples = {
        str(lock): dict(enumerate(source.lognormal(0, 0.1, 7))) for lock in range(20)
    }
    del samples["5"][2]
    found = contrasts(samples, "0", 19)
    assert found["5"].rounds == 6 and found["5"].freedom == 5
    assert found["6"].rounds == 7 and found["6"].freedom > 6
    lost = {one: value for one, value in samples["0"].items() if one < 1}
    assert contrasts({**samples, "0": lost}, "0", 19) == {}


def test_identical_runs_have_an_interval_without_width():
    samples = {lock: dict.fromkeys(range(7), 2.0) for lock in ("a", "b")}
    samples["b"] = dict.fromkeys(range(7), 3.0)
    ratio = contrasts(samples, "a", 1)["b"].ratio
    assert ratio.low == pytest.approx(1.5) == ratio.high


def test_ratios_without_an_interval():
    ones, twos = dict.fromkeys(range(7), 1.0), dict.fromkeys(range(7), 2.0)
    assert ratio_without_interval(twos, ones).value == pytest.approx(2)
    assert ratio_without_interval({}, ones) is None
    zeros = dict.fromkeys(range(7), 0.0)
    assert ratio_without_interval(zeros, ones).value == 0
    assert ratio_without_interval(ones, zeros).value == math.inf
    assert ratio_without_interval(ones, zeros).low is None
