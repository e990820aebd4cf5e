# SPDX-License-Identifier: MIT
"""The functions of the program that acquire a site's locks, by hold time."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from hasp.profile.model.clock import Clock
from hasp.profile.model.holding import HolderFunction
from hasp.profile.model.naming import (
    MOST_WRAPPERS,
    is_library,
    is_wrapper,
    place_of,
    without_arguments,
)
from hasp.profile.model.sites import Sites, Stacks
from hasp.profile.symbols.frame import Frame, Stack
from hasp.profile.trace.format import Records

# Functions of the program that only lock: a holder is the function that calls them.
LOCKS = re.compile(r"(?:^|_|::)(?:lock|locked|enter|acquire_lock)$|(?:^|::)lock_\w+$")
MOST_STACKS = 64  # of a site, by hold time


def program_frame(stack: Stack) -> Frame | None:
    """Return the innermost frame outside libraries and wrappers around pthread.

    If there are only such frames, the innermost of the program is returned; None if
    there is none of the program.
    """
    own = [frame for frame in stack if not is_library(frame)][: MOST_WRAPPERS + 1]
    chosen = [frame for frame in own if not is_wrapper(frame)]
    outer = (frame for frame in chosen if not LOCKS.search(_name(frame)))
    return next(outer, next(iter(chosen or own), None))


def _name(frame: Frame) -> str:
    return without_arguments(frame.function)


def function_name(frame: Frame) -> str:
    """Return the function without arguments, or its place if that is not known."""
    return without_arguments(frame.function) or place_of(frame)


class HolderFunctions:
    """The holds of a trace's stack profile, by site."""

    def __init__(
        self, weights: Records, sites: Sites, stacks: Stacks, clock: Clock
    ) -> None:
        known = (weights["lock"] < len(sites.of)) & (weights["stack"] != 0)
        self._weights = weights[known & (weights["holds"] > 0)]
        self._of: NDArray[np.uint32] = sites.of[self._weights["lock"]]
        self._order = np.argsort(self._of, kind="stable")
        self._sorted = self._of[self._order]
        self._stacks = stacks
        self._clock = clock

    def of(self, site: int) -> tuple[HolderFunction, ...]:
        """Return the functions by hold time, descending."""
        begin, end = np.searchsorted(self._sorted, [site, site + 1])
        weights = self._weights[self._order[begin:end]]
        total = float(weights["hold_ticks"].sum(dtype=float))
        numbers, inverse = np.unique(weights["stack"], return_inverse=True)
        ticks = np.bincount(inverse, weights["hold_ticks"].astype(float), len(numbers))
        holds = np.bincount(inverse, weights["holds"].astype(float), len(numbers))
        by_name: dict[str, list[int]] = {}
        for i in np.argsort(-ticks, kind="stable")[:MOST_STACKS].tolist():
            frame = program_frame(self._stacks[int(numbers[i])])
            if frame:
                by_name.setdefault(function_name(frame), []).append(i)
        found = [
            HolderFunction(
                function=name,
                share=float(ticks[some].sum()) / total if total else 0.0,
                holds=int(holds[some].sum()),
                hold_ns=self._clock.ns(float(ticks[some].sum())),
                stack=self._stacks[int(numbers[some[0]])],
            )
            for name, some in by_name.items()
        ]
        return tuple(sorted(found, key=lambda one: -one.hold_ns))
