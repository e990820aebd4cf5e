# SPDX-License-Identifier: MIT
"""Estimates of many candidates from few runs, by their similarity to each other.

The logarithm of a run is modelled as its candidate's value plus the level of its round
plus noise. The candidates' values have a Gaussian prior whose correlations the caller
knows, so a run of one candidate also gives information about similar ones that never
ran (kriging; Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006,
section 2.2). Choosing the runs by such a model is the subject of Srinivas et al.,
"Gaussian process optimization in the bandit setting", ICML 2010.

The model only chooses what to run. Nothing is proven with it: see `sequential`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import scipy

from hasp.statistics.ratio import Array

USUAL_NOISE = 0.08  # standard deviation of the logarithm of a run, before any repeats
NOISE_WEIGHT = 2.0  # number of repeated runs that the usual noise is worth
# A run this far below the best (a factor of 4.5) only shows that the candidate is bad.
# How bad it is must not influence how different the others are assumed to be.
DEEPEST = 1.5
LARGEST_VARIANCE = 0.3  # of the candidates' values
RIDGE = 0.5  # pulls the levels of the rounds to zero, as if each had half a run more


@dataclass(frozen=True)
class Posterior:
    """The estimate of each candidate's logarithm from the runs."""

    mean: Array
    covariance: Array

    @property
    def deviation(self) -> Array:
        """The standard deviation of each candidate."""
        found: Array = numpy.sqrt(numpy.maximum(numpy.diag(self.covariance), 1e-12))
        return found

    def probability_above(self, which: int, margin: float) -> Array:
        """The probability that each candidate exceeds `which` by more than `margin`."""
        own = numpy.diag(self.covariance)
        spread = own + own[which] - 2 * self.covariance[:, which]
        reach = self.mean - self.mean[which] - margin
        found: Array = scipy.special.ndtr(
            reach / numpy.sqrt(numpy.maximum(spread, 1e-12))
        )
        return found


def posterior(
    similarity: Array,
    candidates: Sequence[int],
    rounds: Sequence[int],
    values: Sequence[float],
) -> Posterior:
    """Estimate every candidate from the runs; `values` are logarithms.

    `similarity` has a row and a column for each candidate, with 1 on the diagonal.
    """
    which, block = numpy.asarray(candidates), numpy.asarray(rounds)
    runs = numpy.asarray(values, dtype=float)
    runs = numpy.maximum(runs, runs.max() - DEEPEST)
    noise, levels, spread = _components(which, block, runs, len(similarity))
    variance = min(max(spread, 0.5 * noise), LARGEST_VARIANCE)
    prior = variance * similarity
    cover = prior[numpy.ix_(which, which)] + levels * (block[:, None] == block)
    cover[numpy.diag_indices_from(cover)] += noise
    weights: Any = numpy.linalg.solve(cover, numpy.column_stack([runs, _ones(runs)]))
    centre = weights[:, 0].sum() / weights[:, 1].sum()
    link = prior[:, which]
    mean = centre + link @ (weights[:, 0] - centre * weights[:, 1])
    covariance = prior - link @ numpy.linalg.solve(cover, link.T)
    return Posterior(mean, covariance)


def _ones(like: Array) -> Array:
    return numpy.ones(len(like))


def _components(
    which: Any, block: Any, runs: Array, number: int
) -> tuple[float, float, float]:
    """The variances of the noise, of the rounds, and of the candidates' values."""
    names, place = numpy.unique(block, return_inverse=True)
    design = numpy.zeros((len(runs), number + len(names)))
    design[numpy.arange(len(runs)), which] = 1
    design[numpy.arange(len(runs)), number + place] = 1
    ridge = numpy.zeros((len(names), design.shape[1]))
    ridge[numpy.arange(len(names)), number + numpy.arange(len(names))] = RIDGE
    whole = numpy.vstack([design, ridge])
    target = numpy.concatenate([runs, numpy.zeros(len(names))])
    target[: len(runs)] -= runs.mean()
    fit, *_ = numpy.linalg.lstsq(whole, target, rcond=None)
    rest = target[: len(runs)] - design @ fit
    counts = numpy.bincount(which, minlength=number)
    freedom = max(0.0, float(len(runs) - (counts > 0).sum() - len(names) + 1))
    squares = float((rest**2).sum()) + NOISE_WEIGHT * USUAL_NOISE**2
    noise = squares / (freedom + NOISE_WEIGHT)
    levels = fit[number:]
    between = float(levels.var()) if len(levels) > 1 else 0.0
    means = fit[:number][counts > 0]
    spread = float(means.var()) - noise / max(1.0, float(counts[counts > 0].mean()))
    return noise, between, spread if math.isfinite(spread) else noise
