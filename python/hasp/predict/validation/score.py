# SPDX-License-Identifier: MIT
"""How well predictions agree with a study, and the levels that they must reach.

The levels and rules were written before the first prediction was compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy
import scipy

from hasp.statistics.apart import pairs_apart, share_in_order
from hasp.statistics.sensitivity import (
    SENSITIVE_ABOVE,
    deviation_beyond_noise,
    relative_deviation,
)

TAU_MUST, TAU_GOAL = 0.5, 0.7
# the same for the lock study's machine A-64; written before the first prediction, too
TAU_64_MUST, TAU_64_GOAL = 0.4, 0.6
MATTERS_MUST = 10  # of the twelve programs

Figures = Mapping[str, float]  # throughput by lock
RunsByLock = Mapping[str, Sequence[float]]  # throughputs of all runs


@dataclass(frozen=True)
class Score:
    """One program: a prediction beside the measurement."""

    program: str
    tau: float | None  # Kendall's tau-b of the order of locks; None if undefined
    measured: float  # relative deviation over the locks
    predicted: float
    remark: str = ""
    # Kendall's tau-b between the study's own runs of even and of odd number
    repeated: float | None = None
    # the tau that a perfect prediction would have with these measurements
    ceiling: float | None = None
    # the pairs of locks that the runs tell apart, and the share predicted in that order
    apart: int = 0
    in_order: float | None = None
    # the measured deviation without the noise of the runs; None if it is not known
    beyond_noise: float | None = None
    # If locks were predicted in their published form: their number, and tau and the
    # predicted deviation with Hasp's code for the same locks
    forms: int = 0
    tau_shipped: float | None = None
    predicted_shipped: float | None = None

    @property
    def matters(self) -> bool:
        """Return true if the lock matters in the measurement, by the study's rule."""
        return self.measured > SENSITIVE_ABOVE

    @property
    def agrees(self) -> bool:
        """Return true if the prediction says the same."""
        return self.matters == (self.predicted > SENSITIVE_ABOVE)

    @property
    def agrees_beyond_noise(self) -> bool:
        """Return the same with the measured deviation without the noise of the runs."""
        known = self.measured if self.beyond_noise is None else self.beyond_noise
        return (known > SENSITIVE_ABOVE) == (self.predicted > SENSITIVE_ABOVE)


def score(
    program: str,
    measured: Figures,
    predicted: Figures,
    remark: str,
    repeated: float | None = None,
    shipped: Figures | None = None,
) -> Score:
    """Compare the throughput of the locks that both have.

    If `predicted` is about locks in their published form, `shipped` are the predictions
    for Hasp's code.
    """
    own = {lock: value for lock, value in (shipped or {}).items() if lock in predicted}
    return Score(
        program,
        tau_of(measured, predicted),
        _deviation(measured),
        _deviation(predicted),
        remark,
        repeated,
        forms=len(own),
        tau_shipped=tau_of(measured, own),
        predicted_shipped=_deviation(own) if own else None,
    )


def with_runs(own: Score, runs: RunsByLock, predicted: Figures) -> Score:
    """Return the score with what depends on the noise of the measured `runs`.

    Locks that cannot be simulated are in no pair. If none was, each pair is a tie.
    """
    simulated = {lock: runs[lock] for lock in runs if lock in predicted} or runs
    pairs = pairs_apart(simulated)
    return replace(
        own,
        apart=len(pairs),
        in_order=share_in_order(pairs, predicted),
        beyond_noise=deviation_beyond_noise(list(runs.values())),
    )


def tau_of(one: Figures, other: Figures) -> float | None:
    """Return Kendall's tau-b over the locks that both have; None if undefined."""
    return _tau([(one[lock], other[lock]) for lock in one if lock in other])


def _tau(pairs: list[tuple[float, float]]) -> float | None:
    if len(pairs) < 2:
        return None
    first, second = zip(*pairs, strict=True)
    tau = float(scipy.stats.kendalltau(first, second).statistic)
    return None if numpy.isnan(tau) else tau


def _deviation(figures: Figures) -> float:
    if len(figures) < 2:
        return 0.0
    return float(relative_deviation(numpy.array([[*figures.values()]]))[0])


def mean_tau(scores: Sequence[Score]) -> float:
    """Return the mean over the programs to which the lock matters.

    An undefined order counts as 0.
    """
    taus = [one.tau or 0.0 for one in scores if one.matters]
    return sum(taus) / len(taus) if taus else 0.0


def mean_tau_of_all(scores: Sequence[Score], shipped: bool = False) -> float:
    """Return the mean over all programs, with Hasp's code if `shipped`.

    An undefined order counts as 0.
    """
    taus = [(one.tau_shipped if shipped else one.tau) or 0.0 for one in scores]
    return sum(taus) / len(taus) if taus else 0.0


def mean_repeated(scores: Sequence[Score]) -> float:
    """Return the same mean for the study's own runs, compared with each other."""
    taus = [one.repeated or 0.0 for one in scores if one.matters]
    return sum(taus) / len(taus) if taus else 0.0


def mean_ceiling(scores: Sequence[Score]) -> float:
    """Return the mean tau that a perfect prediction would have."""
    taus = [one.ceiling or 0.0 for one in scores if one.matters]
    return sum(taus) / len(taus) if taus else 0.0


def pairs_in_order(scores: Sequence[Score]) -> tuple[float, int]:
    """Return the share of the pairs told apart that are in order, and their number.

    They are those of the programs to which the lock matters.
    """
    known = [(one.in_order or 0.0, one.apart) for one in scores if one.matters]
    pairs = sum(apart for _, apart in known)
    return (sum(share * apart for share, apart in known) / max(pairs, 1)), pairs


def right(scores: Sequence[Score]) -> int:
    """Return for how many programs "does the lock matter?" is answered correctly."""
    return sum(one.agrees for one in scores)


def right_beyond_noise(scores: Sequence[Score]) -> int:
    """Return the same if a lock matters by more than the noise of the runs."""
    return sum(one.agrees_beyond_noise for one in scores)
