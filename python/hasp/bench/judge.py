# SPDX-License-Identifier: MIT
"""Rows against targets, in words that keep the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hasp.bench.rows import Row
from hasp.bench.runner import FAILED, HANG
from hasp.bench.targets import (
    BATON_RATIO,
    FAIRNESS_RATIO,
    FINISHES,
    MOST,
    RATIO,
    STARVATION_RATIO,
    TARGETS,
    Target,
)
from hasp.native import LockInfo
from hasp.statistics import Ratio

NAMES = {
    RATIO: "x glibc's",
    FAIRNESS_RATIO: "x glibc's fairness",
    STARVATION_RATIO: "x glibc's longest starvation",
    BATON_RATIO: "x the baton ring",
}


@dataclass(frozen=True)
class Verdict:
    """One target for one row. `clear`: the interval does not include the limit."""

    row: Row
    target: Target
    limit: float
    met: bool
    clear: bool
    words: str


def judge(
    rows: Sequence[Row], locks: Sequence[LockInfo], *, biased: bool
) -> list[Verdict]:
    """A verdict for each target that applies to a measured lock."""
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
    return verdicts


def _applies(target: Target, row: Row, lock: LockInfo) -> bool:
    return (
        target.case == row.case.name
        and target.threads in (None, row.case.threads)
        and target.which(lock)
    )


def _verdict(row: Row, target: Target, biased: bool) -> Verdict:
    if target.figure == FINISHES:
        met = row.outcome not in (HANG, FAILED)
        words = "finishes" if met else f"does not finish: {row.reason}"
        return Verdict(row, target, 0.0, met, True, words)
    limit = target.limit
    if target.unbiased_limit is not None and not biased:
        limit = target.unbiased_limit
    figure: Ratio | None = getattr(row, target.figure)
    if figure is None or row.outcome in (HANG, FAILED):
        words = row.reason or "not measured"
        return Verdict(row, target, limit, False, True, words)
    judged = figure.low if target.low_bound else figure.value
    if judged is None:  # one run has no interval
        judged = figure.value
    met = judged <= limit if target.sense == MOST else judged >= limit
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    clear = (target.low_bound and figure.low is not None) or not low <= limit <= high
    return Verdict(row, target, limit, met, clear, _words(row, target, figure, limit))


def _words(row: Row, target: Target, figure: Ratio, limit: float) -> str:
    name = NAMES.get(target.figure, f" {row.case.unit} more than glibc's")
    interval = ""
    if figure.low is not None and figure.high is not None:
        interval = f" ({figure.low:.2f} to {figure.high:.2f})"
    wanted = "lower bound " if target.low_bound else ""
    return (
        f"{figure.value:.2f}{interval}{name}; wanted: {wanted}{target.sense} {limit:g}"
    )
