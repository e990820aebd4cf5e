# SPDX-License-Identifier: MIT
"""Differences between two stores: the same runs before and after a change.

For one machine and metric, Welch's test compares each configuration (program, lock,
size) that is in both stores. All p values are corrected together by Holm's procedure,
because with many configurations some differ by chance (see hasp.statistics.contest for
the sources). A difference counts if it is significant and large enough to matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hasp.statistics.contest import MATTERS_FROM, SIGNIFICANT_BELOW, holm, welch
from hasp.study.grids import Runs, runs_of

if TYPE_CHECKING:
    import polars

BETTER, WORSE, SAME, CANNOT_TELL = "better", "worse", "same", "cannot tell"


@dataclass(frozen=True)
class ConfigurationDifference:
    """One configuration in both stores."""

    program: str
    lock: str
    size: int
    before: float  # mean
    after: float
    runs: tuple[int, int]
    gain: (
        float  # after / before, inverted if lower is better, so that above 1 is better
    )
    p: float  # corrected by Holm over all configurations
    verdict: str


@dataclass(frozen=True)
class StoreDifferences:
    """One machine and metric in both stores."""

    machine: str
    metric: str
    differences: tuple[ConfigurationDifference, ...]  # the largest first
    only_before: int  # configurations that only one store has
    only_after: int
    best_before: dict[
        tuple[str, int], str
    ]  # (program, size) -> lock with the best mean
    best_after: dict[tuple[str, int], str]

    def of(self, verdict: str) -> list[ConfigurationDifference]:
        """Return the differences with this verdict."""
        return [one for one in self.differences if one.verdict == verdict]

    @property
    def changed_best(self) -> list[tuple[str, int, str, str]]:
        """Program, size, best lock before and best lock after, for significant changes.

        The best lock has changed, and either the old one became worse or the new one
        better.
        """
        told = {
            (one.program, one.lock, one.size)
            for one in self.differences
            if one.verdict in (BETTER, WORSE)
        }
        return [
            (program, size, old, self.best_after[program, size])
            for (program, size), old in self.best_before.items()
            if (new := self.best_after.get((program, size), old)) != old
            and {(program, old, size), (program, new, size)} & told
        ]


def compare(
    before: polars.DataFrame,
    after: polars.DataFrame,
    machine: str,
    metric: str,
    *,
    inverted: bool = False,
) -> StoreDifferences:
    """Compare the samples of two stores; `inverted` means that lower is better."""
    first, second = (runs_of(samples, machine, metric) for samples in (before, after))
    keys = sorted(first.keys() & second.keys())
    corrected = holm([welch(first[key], second[key]) for key in keys])
    found = []
    for key, p in zip(keys, corrected, strict=True):
        old, new = _mean(first[key]), _mean(second[key])
        gain = _gain(old, new, inverted)
        runs = (len(first[key]), len(second[key]))
        found.append(
            ConfigurationDifference(
                *key, old, new, runs, gain, p, _verdict(gain, p, runs)
            )
        )
    found.sort(key=lambda one: (-abs(one.gain - 1), one.program, one.lock, one.size))
    return StoreDifferences(
        machine,
        metric,
        tuple(found),
        len(first.keys() - second.keys()),
        len(second.keys() - first.keys()),
        _best(first, keys, inverted),
        _best(second, keys, inverted),
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _gain(old: float, new: float, inverted: bool) -> float:
    top, bottom = (old, new) if inverted else (new, old)
    if bottom == 0:
        return 1.0 if top == 0 else float("inf")
    return top / bottom


def _verdict(gain: float, p: float, runs: tuple[int, int]) -> str:
    matters = abs(gain - 1) > MATTERS_FROM
    if min(runs) < 2 and matters:
        return CANNOT_TELL
    if not matters:
        return SAME
    if p >= SIGNIFICANT_BELOW:
        return CANNOT_TELL
    return BETTER if gain > 1 else WORSE


def _best(
    runs: Runs, keys: list[tuple[str, str, int]], inverted: bool
) -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], tuple[float, str]] = {}
    for program, lock, size in keys:
        mean = _mean(runs[program, lock, size])
        candidate = (-mean if inverted else mean, lock)
        if (program, size) not in found or candidate > found[program, size]:
            found[program, size] = candidate
    return {where: lock for where, (_, lock) in found.items()}
