# SPDX-License-Identifier: MIT
"""Reduces the raw samples of bursts to one figure and counts dropped samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import numpy.typing

from hasp.statistics import outliers

Array = numpy.typing.NDArray[Any]

TRIMMED_SHARE = 0.1  # at each end of a burst
# Clock granularity and the pipeline scatter small figures by this much.
SCATTER_CYCLES = 10
# Thresholds of modes().
TAIL_SHARE = 0.05  # of the samples at each end
LEAST_SHARE = 0.1  # of the samples in the smaller mode
VALLEY_SHARE = 0.04  # of the samples between the modes, at most
APART = 0.3  # of the median; a smaller distance is not reported
APART_CYCLES = 20


@dataclass(frozen=True)
class Figure:
    """The summary of many samples, in cycles per operation."""

    cycles: float  # median of the bursts
    spread: float  # half the interquartile range
    low: float  # 5th percentile
    high: float  # 95th percentile
    samples: int  # kept
    outliers: int  # dropped by the outlier rule
    lost_overlap: int  # dropped because another thread had no CPU
    modes: tuple[float, float] | None = None  # centres of a bimodal distribution

    def as_json(self, cycles_per_ns: float) -> dict[str, Any]:
        """Return the figure's fields in a row of results."""
        return {
            "cycles": round(self.cycles, 2),
            "ns": round(self.cycles / cycles_per_ns, 2),
            "spread_cycles": round(self.spread, 2),
            "low_cycles": round(self.low, 2),
            "high_cycles": round(self.high, 2),
            "samples": self.samples,
            "outliers": self.outliers,
            "lost_overlap": self.lost_overlap,
            "modes": [round(mode, 2) for mode in self.modes] if self.modes else None,
        }


def figure_of(
    bursts: Iterable[Mapping[str, Any]], trimmed: float = TRIMMED_SHARE
) -> Figure | None:
    """Reduce all bursts of one case to a figure; None if no sample remains.

    The value of a burst is the mean without that share of its samples at each end; with
    half of them, its median.

    Each burst also times an empty region; the median of those timings is subtracted. A
    sample is either kept or dropped and counted as dropped, never replaced.
    """
    kept: list[float] = []
    origin: list[int] = []  # the burst of each
    lost = 0
    for number, burst in enumerate(bursts):
        batch = burst["batch"]
        empty = float(numpy.median(burst["overheads"])) if "overheads" in burst else 0.0
        without_cpu = set(burst.get("lost_overlap", ()))
        lost += len(without_cpu)
        kept += [
            (cycles - empty) / batch
            for index, cycles in enumerate(burst["cycles"])
            if index not in without_cpu
        ]
        origin += [number] * (len(kept) - len(origin))
    crowds = modes(kept)
    # In a bimodal distribution the smaller mode would look like outliers.
    far = set() if crowds else _far(kept)
    stays = [index not in far for index in range(len(kept))]
    values = numpy.asarray(kept)[stays]
    if not len(values):
        return None
    low, lower, upper, high = numpy.percentile(values, (5, 25, 75, 95))
    return Figure(
        cycles=_middle(values, numpy.asarray(origin)[stays], trimmed),
        spread=float(upper - lower) / 2,
        low=float(low),
        high=float(high),
        samples=len(values),
        outliers=len(far),
        lost_overlap=lost,
        modes=crowds,
    )


def _far(values: Sequence[float]) -> set[int]:
    middle = float(numpy.median(values)) if values else 0.0
    return {
        place
        for place in outliers(values)
        if abs(values[place] - middle) > SCATTER_CYCLES
    }


def _middle(values: Array, origin: Array, trimmed: float) -> float:
    """Return the median of the bursts' trimmed means.

    The median of all samples would be unstable: latency also depends on the home of a
    line, and with two kinds of homes the median falls into the gap between them.
    """
    means = []
    for number in numpy.unique(origin):
        ordered = numpy.sort(values[origin == number])
        tail = min(int(trimmed * len(ordered)), (len(ordered) - 1) // 2)
        means.append(float(ordered[tail : len(ordered) - tail].mean()))
    return float(numpy.median(means))


def modes(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the centres of a bimodal distribution, or None if there is one mode.

    The cut is Otsu's ("A threshold selection method from gray-level histograms", 1979),
    which maximises the variance between the two sides. Any samples can be cut; they are
    bimodal if hardly any lie in the middle third between the centres. Tails are
    excluded because the outlier rule handles them.
    """
    ordered = numpy.sort(numpy.asarray(values, dtype=float))
    tail = int(TAIL_SHARE * len(ordered))
    ordered = ordered[tail : len(ordered) - tail]
    count = len(ordered)
    if count < 20:
        return None
    sizes = numpy.arange(1, count)
    sums = numpy.cumsum(ordered)[:-1]
    below, above = sums / sizes, (ordered.sum() - sums) / (count - sizes)
    cut = int(numpy.argmax(sizes * (count - sizes) * (above - below) ** 2)) + 1
    low, high = float(numpy.median(ordered[:cut])), float(numpy.median(ordered[cut:]))
    apart = high - low
    between = (ordered > low + apart / 3) & (ordered < high - apart / 3)
    if (
        min(cut, count - cut) < LEAST_SHARE * count
        or apart < max(APART_CYCLES, APART * float(numpy.median(ordered)))
        or numpy.count_nonzero(between) > VALLEY_SHARE * count
    ):
        return None
    return low, high
