# SPDX-License-Identifier: MIT
"""Compares rows with targets, in words that include the interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hasp.lab.bench.rows import Row
from hasp.lab.bench.runner import FAILED, HANG
from hasp.lab.bench.targets import (
    BATON_RATIO,
    BEST_TARGETS,
    FAIRNESS_RATIO,
    FINISHES,
    MOST,
    RATIO,
    STARVATION_RATIO,
    TARGETS,
    BestTarget,
    Target,
)
from hasp.locks.native import LockInfo
from hasp.statistics import Ratio

NAMES = {
    RATIO: "x glibc's",
    FAIRNESS_RATIO: "x glibc's fairness",
    STARVATION_RATIO: "x glibc's longest starvation",
    BATON_RATIO: "x the baton ring",
}


@dataclass(frozen=True)
class Verdict:
    """One target applied to one row; `clear` if the interval excludes the limit."""

    row: Row
    met: bool
    clear: bool
    words: str


def judge(
    rows: Sequence[Row], locks: Sequence[LockInfo], *, biased: bool
) -> list[Verdict]:
    """Return a verdict for each target that applies to a measured lock."""
    verdicts = []
    by_name = {lock.name: lock for lock in locks}
    for row in rows:
        lock = by_name.get(row.lock)
        seen: set[str] = set()
        for target in TARGETS:
            if lock is None or not _applies(target, row, lock) or target.figure in seen:
                continue
            seen.add(target.figure)
            verdicts.append(_verdict(row, target, biased))
    for best in BEST_TARGETS:
        verdicts += _best_verdicts(rows, by_name, best)
    return verdicts


def limit_of(row: Row, lock: LockInfo, figure: str, *, biased: bool) -> float | None:
    """Return the limit of the first target for this figure of a row, or None."""
    for target in TARGETS:
        if target.figure == figure and _applies(target, row, lock):
            return _limit(target, biased)
    return None


def _limit(target: Target, biased: bool) -> float:
    if target.unbiased_limit is not None and not biased:
        return target.unbiased_limit
    return target.limit


def _best_verdicts(
    rows: Sequence[Row], locks: Mapping[str, LockInfo], best: BestTarget
) -> Iterator[Verdict]:
    """Yield a verdict per number of threads, about the best candidate."""
    candidates = [
        row
        for row in rows
        if row.case.name == best.case
        and row.ratio is not None
        and row.starvation_ratio is not None
        and row.lock in locks
        and best.which(locks[row.lock])
    ]

    def reaches(row: Row) -> bool:
        return (
            row.ratio is not None
            and row.starvation_ratio is not None
            and row.ratio.value >= best.least_ratio
            and row.starvation_ratio.value <= best.most_starvation_ratio
        )

    for load in dict.fromkeys(row.case.load for row in candidates):
        of_load = [row for row in candidates if row.case.load == load]
        row = max(
            of_load,
            key=lambda row: (reaches(row), row.ratio.value if row.ratio else 0.0),
        )
        assert row.ratio and row.starvation_ratio
        words = (
            f"{best.words}: {row.ratio.value:.2f}x glibc's and "
            f"{row.starvation_ratio.value:.2f}x its longest starvation; wanted: "
            f"at least {best.least_ratio:g} and at most {best.most_starvation_ratio:g}"
        )
        yield Verdict(row, reaches(row), True, words)


def _applies(target: Target, row: Row, lock: LockInfo) -> bool:
    return (
        target.case == row.case.name
        and target.threads in (None, row.case.threads)
        and target.which(lock)
    )


def _verdict(row: Row, target: Target, biased: bool) -> Verdict:
    if target.figure == FINISHES:
        met = row.outcome not in (HANG, FAILED)
        words = "finishes" if met else f"did not finish: {row.reason}"
        return Verdict(row, met, True, words)
    limit = _limit(target, biased)
    figure: Ratio | None = getattr(row, target.figure)
    if figure is None or row.outcome in (HANG, FAILED):
        words = row.reason or "not measured"
        return Verdict(row, False, True, words)
    judged = figure.low if target.low_bound else figure.value
    if judged is None:  # a single run has no interval
        judged = figure.value
    met = judged <= limit if target.sense == MOST else judged >= limit
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    clear = (target.low_bound and figure.low is not None) or not low <= limit <= high
    return Verdict(row, met, clear, _words(row, target, figure, limit))


def _words(row: Row, target: Target, figure: Ratio, limit: float) -> str:
    name = NAMES.get(target.figure, f" {row.case.unit} more than glibc's")
    interval = ""
    if figure.low is not None and figure.high is not None:
        interval = f" ({figure.low:.2f} to {figure.high:.2f})"
    wanted = "lower bound " if target.low_bound else ""
    return (
        f"{figure.value:.2f}{interval}{name}; wanted: {wanted}{target.sense} {limit:g}"
    )
