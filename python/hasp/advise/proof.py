# SPDX-License-Identifier: MIT
"""Comparison of the rules' advice with measurements (E10).

A lock is "best" within 5 % of the fastest and "harmful" if more than 15 % slower, as in
the lock study (section 5.2.2 and Table 12). The whole confidence interval must be on
one side of the limit; otherwise the verdict is "cannot tell".
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hasp.compare.settings import Cell
from hasp.compare.store import Comparison
from hasp.locks.native import REFERENCE
from hasp.locks.site_plan.name import is_plan
from hasp.profile.diagnosis.rules import Rules
from hasp.statistics import Ratio, ratio_of_medians
from hasp.statistics.ratio import FEWEST_PAIRS as FEWEST_RUNS

BEST = "best"
BEHIND = "behind"
HARMFUL = "harmful"
CANNOT_TELL = "cannot tell"
FAILED = "failed"
NOT_MEASURED = "not measured"


def shown(cell: Cell) -> Cell:
    """Return the cell with its display name: a plan is called `plan`."""
    return replace(cell, lock="plan") if is_plan(cell.lock) else cell


@dataclass(frozen=True)
class RankedLock:
    """A lock's distance to the fastest, at one number of threads."""

    cell: Cell
    median: float | None
    behind: (
        Ratio | None
    )  # 1.1 means 10 % slower; None for the fastest lock and for failures
    verdict: str

    @property
    def name(self) -> str:
        """The name of the lock, or `plan`."""
        return shown(self.cell).lock

    def as_json(self) -> dict[str, Any]:
        """Return one record."""
        return {
            "lock": self.name,
            "threads": self.cell.threads,
            "median": self.median,
            "behind": None if self.behind is None else asdict(self.behind),
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Proof:
    """The comparison's verdict on the advice."""

    standings: tuple[RankedLock, ...]
    agreement: str  # agree, disagree, or cannot tell
    words: tuple[str, ...]
    lock_variation: float | None  # rule E0
    fewer_threads_gain: float | None  # rule E5

    def as_json(self) -> dict[str, Any]:
        """Return one record."""
        return {
            **asdict(self),
            "standings": [item.as_json() for item in self.standings],
        }


def prove(
    comparison: Comparison,
    recommended: str | None,
    rules: Rules,
    present: str = REFERENCE,
) -> Proof:
    """Judge the recommended lock by a comparison; None recommends the current lock."""
    standings = [
        standing
        for threads in comparison.settings.threads
        for standing in _standings(comparison, threads, rules)
    ]
    most = max(comparison.settings.threads, key=lambda count: count or 0)
    at_most = [item for item in standings if item.cell.threads == most]
    agreement, words = _agreement(at_most, recommended, present, rules)
    gain = _fewer_threads(comparison, standings, most)
    if gain is not None:
        words.append(gain.words(rules))
    return Proof(
        standings=tuple(standings),
        agreement=agreement,
        words=tuple(words),
        lock_variation=_variation(at_most),
        fewer_threads_gain=gain.value if gain else None,
    )


def samples(comparison: Comparison, cell: Cell) -> dict[int, float]:
    """Return the primary measure of a cell's successful runs, by round."""
    measure = comparison.primary
    return {
        run.block: value
        for run in comparison.runs
        if run.cell == cell
        and run.measured
        and (value := run.value(measure)) is not None
    }


def better(
    mine: Mapping[int, float], its: Mapping[int, float], *, less_is_better: bool
) -> Ratio | None:
    """Return the factor by which `mine` is better than `its`, paired by round."""
    blocks = sorted(mine.keys() & its.keys())
    if not blocks:
        return None
    own = [mine[block] for block in blocks]
    others = [its[block] for block in blocks]
    return (
        ratio_of_medians(others, own)
        if less_is_better
        else ratio_of_medians(own, others)
    )


def _behind(comparison: Comparison, cell: Cell, other: Cell) -> Ratio | None:
    """Return the factor by which a cell is worse than another."""
    return better(
        samples(comparison, other),
        samples(comparison, cell),
        less_is_better=comparison.primary.lower_is_better,
    )


def _standings(
    comparison: Comparison, threads: int | None, rules: Rules
) -> list[RankedLock]:
    cells = [Cell(lock, threads) for lock in comparison.settings.locks]
    medians = {
        cell: statistics.median(found.values())
        for cell in cells
        if (found := samples(comparison, cell))
    }
    tried = {run.cell for run in comparison.runs}
    if not medians:
        return [_unmeasured(cell, tried) for cell in cells]
    choose = min if comparison.primary.lower_is_better else max
    fastest = choose(medians, key=lambda cell: medians[cell])
    result = []
    for cell in cells:
        if cell not in medians:
            result.append(_unmeasured(cell, tried))
        elif cell == fastest:
            enough = len(samples(comparison, cell)) >= FEWEST_RUNS
            verdict = BEST if enough else CANNOT_TELL
            result.append(RankedLock(cell, medians[cell], None, verdict))
        else:
            behind = _behind(comparison, cell, fastest)
            result.append(
                RankedLock(cell, medians[cell], behind, _judged(behind, rules))
            )
    return result


def _unmeasured(cell: Cell, tried: set[Cell]) -> RankedLock:
    return RankedLock(cell, None, None, FAILED if cell in tried else NOT_MEASURED)


def _judged(behind: Ratio | None, rules: Rules) -> str:
    if behind is None or behind.low is None or behind.high is None:
        return CANNOT_TELL
    if behind.blocks < FEWEST_RUNS:
        return CANNOT_TELL  # with fewer pairs, the interval covers less than 95 %
    best, harmful = 1 + rules.limit("best"), 1 + rules.limit("harmful")
    if behind.high <= best:
        return BEST
    if behind.low > harmful:
        return HARMFUL
    return BEHIND if behind.low > best else CANNOT_TELL


def _agreement(
    standings: Sequence[RankedLock],
    recommended: str | None,
    present: str,
    rules: Rules,
) -> tuple[str, list[str]]:
    """Return true if the recommended lock is among the best."""
    name = recommended or present
    found = {item.cell.lock: item for item in standings}
    own = found.get(name)
    what = f"the rules recommend {'' if recommended else 'keeping '}{name}"
    if own is None or own.median is None:
        return CANNOT_TELL, [f"{what}; it could not be measured"]
    fastest = next((item for item in standings if item.median and not item.behind), own)
    best = f"{100 * rules.limit('best'):.0f} %"
    words = []
    if own.verdict == BEST:
        agreement = "agree"
        words.append(f"rule and measurement agree: {name} is within {best} of the best")
    elif own.verdict == CANNOT_TELL and own is fastest:
        agreement = CANNOT_TELL
        words.append(
            f"{what}; it was the fastest, but there are too few runs to prove it; "
            "use more --runs"
        )
    elif own.verdict == CANNOT_TELL:
        agreement = CANNOT_TELL
        words.append(
            f"{what}; the measurement is inconclusive, because {name} and "
            f"{fastest.name} are too close; use more --runs, or longer ones"
        )
    else:
        agreement = "disagree"
        degree = "harmful: far" if own.verdict == HARMFUL else "not the best:"
        words.append(
            f"rule and measurement disagree: {name} is {degree} behind "
            f"{fastest.name}; trust the measurement"
        )
    harmful = [item.name for item in standings if item.verdict == HARMFUL]
    if harmful:
        words.append(f"harmful here: {', '.join(harmful)}")
    plan = next((item for item in standings if item.name == "plan"), None)
    if plan is not None and plan.median is not None:
        words.append(f"the plan is {_plan_words(plan)}")
    return agreement, words


def _plan_words(plan: RankedLock) -> str:
    return {
        BEST: "among the best",
        BEHIND: "behind the best",
        HARMFUL: "far behind the best",
        CANNOT_TELL: "too close to the best to judge",
    }[plan.verdict]


def _variation(standings: Sequence[RankedLock]) -> float | None:
    """Relative standard deviation over the locks (lock study, 5.1.1)."""
    medians = [item.median for item in standings if item.median is not None]
    if len(medians) < 3 or not statistics.fmean(medians):
        return None
    return statistics.stdev(medians) / statistics.fmean(medians)


@dataclass(frozen=True)
class _Fewer:
    """The best cell with fewer threads, compared with the best at the most threads."""

    fewer: Cell
    most: Cell
    ratio: Ratio  # factor by which fewer threads are better

    @property
    def value(self) -> float:
        return self.ratio.value - 1

    def words(self, rules: Rules) -> str:
        limit = 1 + rules.limit("fewer-threads")
        low, high = self.ratio.low, self.ratio.high
        percent = f"{100 * self.value:.0f} %"
        fewer, most = shown(self.fewer).words, shown(self.most).words
        if self.ratio.blocks < FEWEST_RUNS:
            low = high = None
        if low is not None and low > limit:
            return (
                f"fewer threads beat another lock: {fewer} is {percent} "
                f"better than {most}, the best at the most threads"
            )
        if high is not None and high <= limit:
            return f"fewer threads are no better: {most} is the best"
        return f"the measurement cannot tell whether {fewer} is better than {most}"


def _fewer_threads(
    comparison: Comparison, standings: Sequence[RankedLock], most: int | None
) -> _Fewer | None:
    """Compare the best cell with fewer threads to the best at the most threads."""
    measured = [item for item in standings if item.median is not None]
    smaller = [item for item in measured if item.cell.threads != most]
    largest = [item for item in measured if item.cell.threads == most]
    if not smaller or not largest:
        return None
    sign = 1 if comparison.primary.lower_is_better else -1
    first = min(smaller, key=lambda item: sign * (item.median or 0.0)).cell
    last = min(largest, key=lambda item: sign * (item.median or 0.0)).cell
    ratio = _behind(comparison, last, first)
    return _Fewer(first, last, ratio) if ratio else None
