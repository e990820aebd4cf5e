# SPDX-License-Identifier: MIT
"""How well a perfect prediction would agree with noisy measurements."""

import numpy
import pytest
import scipy

from hasp.statistics.ceiling import ceiling_of


def test_without_noise_a_perfect_prediction_agrees_perfectly() -> None:
    assert ceiling_of([[float(n)] * 3 for n in range(1, 9)]) == pytest.approx(1)


def test_an_order_that_is_noise_only_cannot_be_predicted() -> None:
    assert ceiling_of([[1.0, 1.2, 0.8], [0.8, 1.1, 1.2], [1.2, 0.8, 1.1]]) == 0


def test_runs_that_are_not_repeated_tell_nothing() -> None:
    assert ceiling_of([[1.0], [2.0]]) is None
    assert ceiling_of([]) is None


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
def test_the_ceiling_is_what_a_known_truth_reaches(noise: float) -> None:
    generator = numpy.random.default_rng(7)
    truth = generator.normal(0, 0.1, 40)
    reached, estimated = [], []
    for _ in range(4):
        runs = numpy.exp(truth[:, None] + generator.normal(0, noise, (40, 5)))
        reached.append(scipy.stats.kendalltau(truth, runs.mean(axis=1)).statistic)
        estimated.append(ceiling_of(runs.tolist()))
    assert numpy.mean(estimated) == pytest.approx(numpy.mean(reached), abs=0.08)
