# SPDX-License-Identifier: MIT
"""The regret of the advice, of keeping glibc's lock, and of the best fixed lock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy

from hasp.lab.bench.advice.cases import Case
from hasp.locks import native
from hasp.profile.diagnosis.features import Features
from hasp.profile.diagnosis.judge import judge
from hasp.profile.diagnosis.proven import NOTHING, Proven
from hasp.profile.diagnosis.rules import Rules
from hasp.statistics import Ratio, ratio_of_medians
from hasp.statistics.regret import as_measured, best, held_out

GLIBC = native.REFERENCE
# Targets for the advice, as shares of the throughput.
MEDIAN_LIMIT, TAIL_LIMIT, WORSE_LIMIT = 0.0, 0.10, 0.05


@dataclass(frozen=True)
class Choice:
    """A lock chosen for a case, and what it loses."""

    case: Case
    lock: str
    regret: float | None  # held out; None: the lock was not measured
    raw_regret: float | None  # best median / own median - 1
    sure_regret: float | None  # at the lower end of the interval of best / own median
    to_glibc: Ratio | None  # throughput relative to glibc's lock

    @property
    def worse(self) -> float:
        """The share by which it is slower than glibc's lock, or 0."""
        return max(0.0, 1 - self.to_glibc.value) if self.to_glibc else 0.0

    @property
    def proven_worse(self) -> float:
        """The share by which the whole interval is below glibc's lock; 0 if none."""
        high = self.to_glibc.high if self.to_glibc else None
        return 0.0 if high is None else max(0.0, 1 - high)

    @property
    def surely_worse(self) -> bool:
        """Return true if the whole interval is more than 5 % below glibc's lock."""
        return self.proven_worse > WORSE_LIMIT


def chosen(case: Case, lock: str) -> Choice:
    """Return what a lock loses in a case."""
    values = case.runs.get(lock)
    if values is None:
        return Choice(case, lock, None, None, None, None)
    return Choice(
        case,
        lock,
        regret=held_out(case.runs, lock),
        raw_regret=as_measured(case.runs, lock),
        sure_regret=_sure_regret(case, lock),
        to_glibc=_ratio(values, case.runs[GLIBC]),
    )


def _ratio(values: Sequence[float], reference: Sequence[float]) -> Ratio:
    """Return the ratio of the medians of the rounds that both have."""
    rounds = min(len(values), len(reference))
    return ratio_of_medians(values[:rounds], reference[:rounds])


def _sure_regret(case: Case, lock: str) -> float:
    """Return the regret at the lower end of the interval of best / own median.

    It is 0 if the interval contains 1: a difference within the noise is not regret.
    """
    other = best(case.runs)
    if other == lock:
        return 0.0
    low = _ratio(case.runs[other], case.runs[lock]).low
    return max(0.0, low - 1) if low is not None else 0.0


def advised_lock(
    measured: Features | None, rules: Rules, proven: Proven = NOTHING
) -> str:
    """The lock that `hasp advise` recommends: glibc's if it recommends no other."""
    if measured is None:
        return GLIBC
    verdict = judge(measured, rules, native.locks(), proven=proven)
    return verdict.recommendation or GLIBC


def advised(cases: Iterable[Case], rules: Rules) -> list[Choice]:
    """The choices of the advice, for each recording of each case."""
    return [
        chosen(case, advised_lock(measured, rules))
        for case in cases
        for measured in case.recordings
    ]


def compared(cases: Iterable[Case], rules: Rules) -> list[Choice]:
    """What `hasp advise -- COMMAND` recommends after its comparison, where it was made.

    The runs of the comparison are not those that judge it.
    """
    return [
        chosen(case, advised_lock(case.recordings[0], rules, Proven(case.proofs)))
        for case in cases
        if case.proofs is not None
    ]


def fixed(cases: Iterable[Case], lock: str) -> list[Choice]:
    """The same lock for every case."""
    return [chosen(case, lock) for case in cases]


def best_fixed_lock(cases: Sequence[Case]) -> str:
    """The lock with the smallest mean regret of those measured in every case."""
    common = set.intersection(*(set(case.runs) for case in cases)) - {GLIBC}

    def loss(lock: str) -> float:
        return fmean(math.log1p(held_out(case.runs, lock)) for case in cases)

    return min(sorted(common), key=loss)


@dataclass(frozen=True)
class Summary:
    """The losses of one method over some cases."""

    method: str
    cases: int  # that were judged
    unmeasured: int  # choices without runs
    median: float
    tail: float  # 90th percentile
    raw_median: float
    raw_tail: float
    sure_tail: float  # 90th percentile of the sure regret
    worst: float
    worse_than_glibc: float  # the largest share
    proven_worse: float  # the largest share that the intervals prove
    surely_worse: int  # number of choices that are surely over 5 % worse than glibc's


def summary(method: str, choices: Sequence[Choice]) -> Summary:
    """Summarise choices; those without runs are only counted."""
    known = [one for one in choices if one.regret is not None]
    regrets = [one.regret or 0.0 for one in known]
    raw = [one.raw_regret or 0.0 for one in known]
    sure = [one.sure_regret or 0.0 for one in known]
    return Summary(
        method=method,
        cases=len(known),
        unmeasured=len(choices) - len(known),
        median=median(regrets),
        tail=_tail(regrets),
        raw_median=median(raw),
        raw_tail=_tail(raw),
        sure_tail=_tail(sure),
        worst=max(regrets),
        worse_than_glibc=max(one.worse for one in known),
        proven_worse=max(one.proven_worse for one in known),
        surely_worse=sum(one.surely_worse for one in known),
    )


def _tail(values: Sequence[float]) -> float:
    return float(numpy.percentile(values, 90))


def best_lock(case: Case) -> str:
    """The lock with the highest median of a case."""
    return best(case.runs)
