# SPDX-License-Identifier: MIT
"""The means of a study as a grid: programs x locks x sizes.

A size is the part of the machine that a run used, in NUMA nodes or threads. A cell is
the arithmetic mean of all runs of one configuration, or NaN if it was not measured;
every function here leaves NaN out instead of counting it as zero or as the worst.

The lock study ("Lock - Unlock: Is That All?", ACM TOCS 2019, section 4) has three
points of view: `one` is the smallest size, `max` the largest of the program, and `opt`
the size at which that lock is best for that program (each lock has its own).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import numpy.typing

Array = numpy.typing.NDArray[numpy.float64]
Flags = numpy.typing.NDArray[numpy.bool_]

POINTS = ("one", "max", "opt")


@dataclass(frozen=True)
class Grid:
    """Means, higher is better; `values` has the shape (programs, locks, sizes)."""

    programs: tuple[str, ...]
    locks: tuple[str, ...]
    sizes: tuple[int, ...]  # ascending
    values: Array

    def at(self, point: str) -> Array:
        """Return the means at `one`, `max` or `opt`: (programs, locks)."""
        if point == "opt":
            return self._best(self.values)
        largest = self._largest()
        if point == "one":
            return self.values[:, :, 0]
        if point != "max":
            raise ValueError(f"{point!r} is not one of {', '.join(POINTS)}")
        result: Array = numpy.full(self.values.shape[:2], numpy.nan)
        measured = largest >= 0
        rows = numpy.flatnonzero(measured)
        result[rows] = self.values[rows, :, largest[rows]]
        return result

    def at_size(self, size: int) -> Array:
        """Return the means at one size: (programs, locks)."""
        return self.values[:, :, self.sizes.index(size)]

    def best_sizes(self) -> numpy.typing.NDArray[numpy.int64]:
        """The size at which each lock is best for each program; 0 if never measured."""
        filled = numpy.where(numpy.isnan(self.values), -numpy.inf, self.values)
        best = numpy.asarray(self.sizes)[numpy.argmax(filled, axis=2)]
        never = numpy.isnan(self.values).all(axis=2)
        chosen: numpy.typing.NDArray[numpy.int64] = numpy.where(never, 0, best)
        return chosen

    def only(self, programs: Sequence[str]) -> Grid:
        """Return a grid of these programs only, in this order."""
        places = [self.programs.index(program) for program in programs]
        return Grid(tuple(programs), self.locks, self.sizes, self.values[places])

    def _largest(self) -> numpy.typing.NDArray[numpy.int64]:
        """Index of the largest size that any lock of a program has; -1 if none has."""
        measured: Flags = numpy.any(~numpy.isnan(self.values), axis=1)
        last = measured.shape[1] - 1 - numpy.argmax(measured[:, ::-1], axis=1)
        chosen: numpy.typing.NDArray[numpy.int64] = numpy.where(
            numpy.any(measured, axis=1), last, -1
        )
        return chosen

    @staticmethod
    def _best(values: Array) -> Array:
        filled = numpy.where(numpy.isnan(values), -numpy.inf, values).max(axis=2)
        result: Array = numpy.where(numpy.isinf(filled), numpy.nan, filled)
        return result


def best_of(values: Array) -> Array:
    """The best mean of each program, of shape (programs, 1); NaN if it has none."""
    filled = numpy.where(numpy.isnan(values), -numpy.inf, values)
    best = filled.max(axis=1, keepdims=True)
    result: Array = numpy.where(numpy.isinf(best), numpy.nan, best)
    return result


def percent(part: Flags, whole: Flags, axis: int) -> Array:
    """The percentage of `whole` that is also `part`, both counted along `axis`."""
    total = whole.sum(axis=axis)
    counted = (part & whole).sum(axis=axis)
    result: Array = numpy.where(
        total == 0, numpy.nan, 100.0 * counted / numpy.where(total == 0, 1, total)
    )
    return result
