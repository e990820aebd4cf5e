# SPDX-License-Identifier: MIT
"""Ratios of many locks to one reference, with intervals that hold simultaneously.

Every round runs each lock once, so a round's conditions cancel in the logarithm of the
ratio to the reference. The intervals are Student's, with Bonferroni's correction for
the number of verdicts in the whole comparison: with 95 % confidence, all of them
contain the true ratio (Miller, "Simultaneous Statistical Inference", 1981). Under the
null hypothesis the paired differences are symmetric whatever the distribution of the
runs, and then Student's test keeps its level (Efron, "Student's t-test under symmetry
conditions", Journal of the American Statistical Association 1969).

The quantile for 45 locks is 5.9 standard errors with the 6 degrees of freedom of seven
rounds, and 3.3 with many. So with enough locks the variance of each is estimated from
all of them by the empirical Bayes method of Smyth, "Linear models and empirical Bayes
methods for assessing differential expression in microarray experiments", Statistical
Applications in Genetics and Molecular Biology 2004, with half the weight of his prior:
its full weight gives up to 7 % wrong comparisons when locks differ in their noise. The
degrees of freedom of a difference are Welch's and Satterthwaite's.

Rejected alternatives, by the simulation in tests/statistics: Dunnett's test with one
variance for all locks (half of all comparisons are wrong when three locks are noisy),
and permuting runs within rounds (a quarter, when locks differ in their noise).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy
import scipy

from hasp.statistics.ratio import CONFIDENCE, Array, Ratio, median_ratio

# Fewer rounds give no verdict: with four, up to 12 % of the comparisons of 46 equal
# locks with two modes were wrong.
FEWEST_ROUNDS = 5
# With fewer locks or rounds, the distribution of the variances cannot be estimated.
POOLED_FROM_LOCKS = 8
POOLED_FROM_ROUNDS = 6
PRIOR_WEIGHT = 0.5
# Centring a round on the median of its K locks removes this share / K of the variance.
CENTRING = 1.5
SMALLEST_VARIANCE = 1e-18  # of logarithms; identical runs have none
SMALLEST_EXCESS = 1e-6  # keeps the prior's degrees of freedom finite
NEWTON_STEPS = 10
POWER = 0.8  # probability of finding a detectable difference
MOST_ROUNDS = 1000

Samples = Mapping[int, float]  # by the number of the round


@dataclass(frozen=True)
class Contrast:
    """The logarithm of a lock's ratio to the reference, and its uncertainty."""

    logarithm: float
    error: float  # standard error of the logarithm
    freedom: float
    rounds: int
    family: int  # verdicts in the comparison that must hold simultaneously

    @property
    def ratio(self) -> Ratio:
        """The geometric mean of the rounds' ratios, with the simultaneous interval."""
        value = math.exp(self.logarithm)
        if self.rounds < FEWEST_ROUNDS:
            return Ratio(value, None, None, self.rounds)
        reach = self._quantile(self.freedom) * self.error
        low, high = self.logarithm - reach, self.logarithm + reach
        return Ratio(value, math.exp(low), _exp(high), self.rounds)

    @property
    def detectable(self) -> float:
        """The relative difference that these runs detect with probability `POWER`."""
        return _exp(self._reach(self.rounds)) - 1

    def rounds_to_detect(self, difference: float) -> int | None:
        """Return the fewest rounds that find it; None if `MOST_ROUNDS` are too few."""
        wanted = math.log1p(difference)
        for rounds in range(FEWEST_ROUNDS, MOST_ROUNDS + 1):
            if self._reach(rounds) <= wanted:
                return rounds
        return None

    def _reach(self, rounds: int) -> float:
        freedom = self.freedom * (rounds - 1) / (self.rounds - 1)
        needed = self._quantile(freedom) + float(scipy.special.stdtrit(freedom, POWER))
        return needed * self.error * math.sqrt(self.rounds / rounds)

    def _quantile(self, freedom: float) -> float:
        return float(quantile(freedom, self.family))


def contrasts(
    samples: Mapping[str, Samples], reference: str, family: int
) -> dict[str, Contrast]:
    """Compare locks to the reference, omitting those that share fewer than two rounds.

    All samples must be positive. A lock that lacks a round of the reference is compared
    by its own pairs alone.
    """
    base = samples.get(reference, {})
    others = [lock for lock in samples if lock != reference]
    groups = [[lock for lock in others if samples[lock].keys() >= base.keys()]]
    groups += [[lock] for lock in others if lock not in groups[0]]
    found = {}
    for group in groups:
        rounds = sorted(base.keys() & samples[group[0]].keys()) if group else []
        if len(rounds) < 2:
            continue
        runs = numpy.log(
            [[samples[lock][one] for lock in (reference, *group)] for one in rounds]
        )
        each = zip(*estimate(runs), strict=True)
        for lock, (mean, error, freedom) in zip(group, each, strict=True):
            numbers = float(mean), float(error), float(freedom)
            found[lock] = Contrast(*numbers, len(rounds), family)
    return found


def ratio_without_interval(sample: Samples, reference: Samples) -> Ratio | None:
    """Return the bare ratio, of medians unless all are positive; None without pairs."""
    shared = sorted(sample.keys() & reference.keys())
    if not shared:
        return None
    top, bottom = ([one[number] for number in shared] for one in (sample, reference))
    if min(*top, *bottom) > 0:
        value = math.exp(float(numpy.mean(numpy.log(top) - numpy.log(bottom))))
    else:
        value = median_ratio(top, bottom)
    return Ratio(value, None, None, len(shared))


def estimate(runs: Array) -> tuple[Array, Array, Array]:
    """Differences from the first lock: means, standard errors, degrees of freedom.

    `runs` are logarithms of shape (..., rounds, locks); the results lack the axis of
    the rounds and the first lock.
    """
    rounds, locks = runs.shape[-2:]
    if locks >= POOLED_FROM_LOCKS and rounds >= POOLED_FROM_ROUNDS:
        return _pooled(runs)
    differences = runs[..., 1:] - runs[..., :1]
    errors = differences.std(axis=-2, ddof=1) / math.sqrt(rounds)
    means = numpy.asarray(differences.mean(axis=-2))
    return means, errors, numpy.full_like(means, rounds - 1)


def quantile(freedom: Array | float, family: int) -> Array:
    """Standard errors from the estimate to either end of the interval."""
    return numpy.asarray(-scipy.special.stdtrit(freedom, (1 - CONFIDENCE) / 2 / family))


def _pooled(runs: Array) -> tuple[Array, Array, Array]:
    """`estimate` with variances that are shrunk towards each other."""
    rounds = runs.shape[-2]
    variances, freedom = moderated(_variances(runs), rounds - 1)
    shares = variances / rounds
    first, others = shares[..., :1], shares[..., 1:]
    means = runs.mean(axis=-2)
    total = first + others
    freedom = total**2 * freedom / (first**2 + others**2)
    return means[..., 1:] - means[..., :1], numpy.sqrt(total), freedom


def _variances(runs: Array) -> Array:
    """Return the variance of each lock over the rounds.

    A round's own level is removed first: the median of its locks, which a few noisy
    locks do not move.
    """
    residuals = runs - runs.mean(axis=-2, keepdims=True)
    residuals = residuals - numpy.median(residuals, axis=-1, keepdims=True)
    locks = runs.shape[-1]
    found = residuals.var(axis=-2, ddof=1) * locks / (locks - CENTRING)
    return numpy.asarray(numpy.maximum(found, SMALLEST_VARIANCE))


def moderated(variances: Array, freedom: int) -> tuple[Array, Array]:
    """Variances shrunk towards their common prior, and their degrees of freedom.

    The last axis indexes the locks. Smyth 2004, section 6.2: the prior's degrees of
    freedom follow from the excess scatter of the logarithms of the variances, compared
    to samples with equal variance.
    """
    logarithms = (
        numpy.log(variances)
        - scipy.special.digamma(freedom / 2)
        + math.log(freedom / 2)
    )
    excess = logarithms.var(axis=-1, ddof=1, keepdims=True)
    excess = numpy.maximum(
        excess - scipy.special.polygamma(1, freedom / 2), SMALLEST_EXCESS
    )
    prior = 2 * _inverse_trigamma(excess)
    level = logarithms.mean(axis=-1, keepdims=True)
    level = level + scipy.special.digamma(prior / 2) - numpy.log(prior / 2)
    prior = PRIOR_WEIGHT * prior
    total = prior + freedom
    return (prior * numpy.exp(level) + freedom * variances) / total, total


def _inverse_trigamma(values: Array) -> Array:
    """Invert the trigamma function by Newton's method (Smyth 2004, appendix)."""
    x = 0.5 + 1 / values
    for _ in range(NEWTON_STEPS):
        trigamma = scipy.special.polygamma(1, x)
        x = x + trigamma * (1 - trigamma / values) / scipy.special.polygamma(2, x)
    found: Array = x
    return found


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf
