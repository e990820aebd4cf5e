# SPDX-License-Identifier: MIT
"""Bounds on the gaps between candidates that hold at every moment of a race.

A race may look at its runs after every round, stop when it likes, and choose what to
run next by what it has seen. The bounds of this module allow that: with 95 %
confidence, every candidate's gap to the best one lies within its bounds at all times.
So a candidate whose upper bound is negative is not the best, and a leader over which
no candidate's upper bound exceeds 5 % is within 5 % of the best: the stopping rule of
LUCB (Kalyanakrishnan, Tewari, Auer and Stone, "PAC subset selection in stochastic
multi-armed bandits", ICML 2012), with the eliminations of Even-Dar, Mannor and Mansour,
"Action elimination and stopping conditions for the multi-armed bandit and reinforcement
learning problems", Journal of Machine Learning Research 2006.

A claim can only be wrong if a bound on the gap between the true best and some other
candidate is. There are as many such gaps as other candidates, and a bound for each
number of shared rounds, so the error of 5 % is divided among the candidates, and among
the rounds in the proportions 1/2, 1/6, 1/12, ... (Even-Dar et al. divide it likewise).

Each bound is Student's, of the differences of the logarithms within shared rounds, in
which the level of the round cancels. The variance of a difference is moderated
(Smyth 2004, see `simultaneous`): its own sum of squares counts, and the mean of all
candidates counts like `PRIOR_FREEDOM` differences more. This is what allows to drop a
bad candidate after three runs. tests/statistics checks by simulation that races in
which a wrong winner is declared stay below 5 %, for noise that is lognormal, heavy in
its tails, has two modes, differs between candidates, or drifts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import scipy

from hasp.statistics.ratio import CONFIDENCE, Array

FEWEST_SHARED = 3  # rounds for a bound
PRIOR_FREEDOM = 2.0
SMALLEST_VARIANCE = 1e-8  # of a difference; programs that repeat exactly have none


@dataclass(frozen=True)
class Gaps:
    """Each candidate's logarithm minus that of one of them, with its bounds.

    The bounds are infinite with fewer than `FEWEST_SHARED` shared rounds.
    """

    rounds: Array  # shared with the one candidate
    mean: Array  # NaN without shared rounds
    low: Array
    high: Array


def gaps(runs: Array, to: int, racing: Array, family: int) -> Gaps:
    """Bound the gap of every candidate to the candidate `to`.

    `runs` has a row of logarithms for each round and a column for each candidate, NaN
    where one did not run. The variance is pooled over the candidates that are `racing`,
    or over all while none of those has run twice.
    `family` is the number of candidates besides the best that may ever race.
    """
    present = ~numpy.isnan(runs)
    shared = present & present[:, [to]]
    number = shared.sum(axis=0).astype(float)
    differences = numpy.where(shared, runs - runs[:, [to]], 0.0)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        mean = numpy.where(number > 0, differences.sum(axis=0) / number, numpy.nan)
        rest = numpy.where(shared, differences - numpy.nan_to_num(mean), 0.0)
    squares = (rest**2).sum(axis=0)
    freedom = numpy.maximum(number - 1, 0.0)
    others = numpy.asarray(racing, dtype=bool).copy()
    others[to] = False
    if not freedom[others].sum():
        others = numpy.arange(len(number)) != to
    total = float(freedom[others].sum())
    if not total:
        nothing = numpy.full(len(number), numpy.inf)
        return Gaps(number, mean, -nothing, nothing)
    pooled = max(float(squares[others].sum()) / total, SMALLEST_VARIANCE)
    variance = (PRIOR_FREEDOM * pooled + squares) / (PRIOR_FREEDOM + freedom)
    look = numpy.maximum(number - FEWEST_SHARED + 1, 1.0)
    level = (1 - CONFIDENCE) / max(1, family) / (look * (look + 1))
    quantile = -scipy.special.stdtrit(PRIOR_FREEDOM + freedom, level)
    reach = quantile * numpy.sqrt(variance / numpy.maximum(number, 1.0))
    enough = number >= FEWEST_SHARED
    low = numpy.where(enough, mean - reach, -numpy.inf)
    high = numpy.where(enough, mean + reach, numpy.inf)
    return Gaps(number, mean, low, high)
