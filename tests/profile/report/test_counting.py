# SPDX-License-Identifier: MIT
"""Confidence intervals of counts have their nominal coverage in random runs."""

from __future__ import annotations

import numpy
import pytest

from hasp.statistics import counting

DRAWS = 400


def coverage(draw):
    """Return how often the interval contains the true ratio."""
    source = numpy.random.default_rng(11)
    found = [draw(source) for _ in range(DRAWS)]
    return sum(one.low <= true <= one.high for true, one in found) / DRAWS


def test_counts():
    def draw(source):
        before, after = source.poisson(100), source.poisson(300)
        return 1.5, counting.of_counts(before, after, exposure=2.0)

    assert 0.92 <= coverage(draw) <= 0.98


def test_shares():
    def draw(source):
        hits, after = source.binomial(1000, 0.2), source.binomial(500, 0.5)
        return 2.5, counting.of_shares((hits, 1000), (after, 500))

    assert 0.92 <= coverage(draw) <= 0.98


def test_means_of_histograms():
    edges = numpy.arange(0, 400.0)

    def variance(source, mean):
        durations = source.gamma(2, mean / 2, 200)
        counts, _ = numpy.histogram(durations, edges)
        middles = (edges[1:] + edges[:-1]) / 2
        return counts @ middles / counts.sum(), counting.variance_of_mean(
            counts, middles, int(counts.sum())
        )

    def draw(source):
        (one, spread), (other, wider) = variance(source, 20), variance(source, 30)
        return 1.5, counting.change(other / one, spread + wider)

    assert 0.92 <= coverage(draw) <= 0.98


def test_several_runs_use_welchs_interval():
    from scipy.stats import ttest_ind

    first, second = [10.0, 11.0, 9.0, 10.5], [12.0, 13.5, 12.5]
    found = counting.of_runs(first, second)
    expected = ttest_ind(numpy.log(second), numpy.log(first), equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval()
    assert numpy.log([found.low, found.high]) == pytest.approx([low, high])


def test_a_quantile_of_few_has_a_wider_interval():
    counts = [500, 300, 150, 50]

    def p99(drawn):
        return counting.quantiles(drawn, range(1, 6), 0.99)

    many = counting.variance_by_bootstrap(counts, 1000, p99)
    # The histogram is the same, but each measured duration has a weight of ten.
    few = counting.variance_by_bootstrap(counts, 100, p99)
    assert many < few


def test_quantiles_are_those_of_distributions():
    from profile_samples import around

    times = around(20_000, 1500, 3)
    for q in (0.1, 0.5, 0.99):
        (found,) = counting.quantiles(numpy.array([times.counts]), times.edges_ns, q)
        assert found == pytest.approx(times.quantile(q))


@pytest.mark.parametrize(("before", "after"), [(0, 5), (5, 0)])
def test_zero_has_no_ratio(before, after):
    assert counting.of_counts(before, after) is None
    assert counting.of_shares((before, 10), (after, 10)) is None
    assert counting.of_runs([before, before], [after, after]) is None


def test_too_few_events_have_no_interval():
    found = counting.of_counts(2, 4)
    assert (found.ratio, found.low, found.p) == (2.0, None, 1.0)
