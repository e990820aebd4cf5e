# SPDX-License-Identifier: MIT
"""Raw samples of bursts, made into one figure; what was dropped is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import numpy.typing

from hasp.statistics import outliers

Array = numpy.typing.NDArray[Any]

TRIMMED_SHARE = 0.1  # at each end of a burst
# The clock's steps and the pipeline: figures of few cycles scatter by that much.
SCATTER_CYCLES = 10
# Two modes: see modes().
TAIL_SHARE = 0.05  # of the samples at each end
LEAST_SHARE = 0.1  # of the samples in the smaller one
VALLEY_SHARE = 0.04  # at most so many between them
APART = 0.3  # of the median; less is not worth a word
APART_CYCLES = 20


@dataclass(frozen=True)
class Figure:
    """What many samples say, in cycles of one operation."""

    cycles: float  # the median of bursts
    spread: float  # half of the range of the middle half
    low: float  # one sample in twenty is below
    high: float  # one in twenty is above
    samples: int  # that it rests on
    outliers: int  # dropped by rule
    lost_overlap: int  # dropped, because another thread had no CPU meanwhile
    modes: tuple[float, float] | None = None  # two values that samples crowd around

    def as_json(self, cycles_per_ns: float) -> dict[str, Any]:
        """Its fields of a row of results."""
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


def figure_of(bursts: Iterable[Mapping[str, Any]]) -> Figure | None:
    """All bursts of one case as a figure; None without a sample to rest on.

    The empty region that each burst has timed beside every sample is taken off as the
    burst's median. A sample is never replaced: it counts, or is dropped and counted.
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
            for place, cycles in enumerate(burst["cycles"])
            if place not in without_cpu
        ]
        origin += [number] * (len(kept) - len(origin))
    crowds = modes(kept)
    # With two crowds, the smaller one would be outliers of the larger.
    far = set() if crowds else _far(kept)
    stays = [place not in far for place in range(len(kept))]
    values = numpy.asarray(kept)[stays]
    if not len(values):
        return None
    low, lower, upper, high = numpy.percentile(values, (5, 25, 75, 95))
    return Figure(
        cycles=_middle(values, numpy.asarray(origin)[stays]),
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


def _middle(values: Array, origin: Array) -> float:
    """The median of the bursts' trimmed means.

    A median of all samples would not be steady: the distance of a line also depends on
    where its home is, and where homes are of two kinds, half of the samples lie on
    either side of a gap that the median falls into.
    """
    means = []
    for number in numpy.unique(origin):
        ordered = numpy.sort(values[origin == number])
        tail = int(TRIMMED_SHARE * len(ordered))
        means.append(float(ordered[tail : len(ordered) - tail].mean()))
    return float(numpy.median(means))


def modes(values: Sequence[float]) -> tuple[float, float] | None:
    """The two values that the samples crowd around, or None.

    The cut between them is Otsu's ("A threshold selection method from gray-level
    histograms", 1979): the one with the largest variance between the two sides. All
    samples can be cut in two; they are two crowds if hardly any lies in the middle
    third between them. The tails are left out: they are for the rule of outliers.
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
