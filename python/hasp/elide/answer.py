# SPDX-License-Identifier: MIT
"""A prediction: the throughput of each configuration, and the outlook of each lock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from hasp.elide.configurations import Configuration
from hasp.predict.answer import Range
from hasp.predict.load import Load
from hasp.profile.diagnosis.obstacles import Obstacles

GAIN, LOSS = 1.05, 0.95
MATTERS = 0.02  # share of the threads' time; a smaller gain or loss is none
ALWAYS = 0.95  # if more of the sections never commit, the lock counts as hopeless


class Data(str, Enum):
    """What is assumed about the data of two sections of one lock."""

    OWN = "different data"
    SHARED = "the same data"
    GIVEN = "as given"


@dataclass(frozen=True)
class Outlook:
    """One lock under one assumption, with the most threads."""

    committed: Range  # share of its sections
    aborts: Mapping[str, float]  # by cause, per section
    busy: float  # share of the time in which its busiest lock is held, not elided
    fine: Range  # share of the threads' time to acquire and release it, not elided
    elided: Range  # the same, elided

    @property
    def saves(self) -> float:
        """The share of the threads' time that elision saves; less than 0: costs."""
        return self.fine.median - self.elided.median


@dataclass(frozen=True)
class LockAnswer:
    """One site of mutexes."""

    site: int
    name: str
    locks: int
    sections_per_s: float  # recorded
    hold_ns: float
    lines: float | None  # cache misses in a section; None if not measured
    obstacles: Obstacles
    outlooks: Mapping[Data, Outlook]

    @property
    def matters(self) -> float:
        """How much it limits the program without elision, from 0 to 1.

        The wait of a starving thread never ends, so no sum of waits contains it, but
        the lock is busy.
        """
        looks = self.outlooks.values()
        return max((max(one.fine.median, one.busy) for one in looks), default=0.0)

    @property
    def judgement(self) -> str:
        """gains, loses, depends, risks, never or indifferent.

        It depends if elision saves time unless the data conflicts; it risks something
        if it saves nothing, and costs time if the data conflicts.
        """
        if self.obstacles.never >= ALWAYS:
            return "never"
        saves = [one.saves for one in self.outlooks.values()]
        if not saves:
            return "indifferent"
        if min(saves) >= MATTERS:
            return "gains"
        if max(saves) >= MATTERS:
            return "depends"
        if max(saves) <= -MATTERS:
            return "loses"
        return "risks" if min(saves) <= -MATTERS else "indifferent"


@dataclass(frozen=True)
class Point:
    """A configuration with a number of threads, under one assumption."""

    configuration: Configuration
    threads: int
    data: Data


@dataclass
class Prediction:
    """All that was simulated before the end, an interruption or the budget."""

    load: Load | None  # None: no lock limits the program
    lock: str  # that is elided
    machine: str
    cpus: int
    threads: tuple[int, ...]
    assumptions: tuple[Data, ...]
    has_inner_trylocks: bool = False
    # throughput, as a multiple of the fine locks' under the same assumption
    points: dict[Point, Range] = field(default_factory=dict)
    locks: list[LockAnswer] = field(default_factory=list)
    left_out: int = 0  # sites that are used, but not simulated
    # names of sites, and the least share of conflicts that can be simulated for them
    crowded: list[tuple[str, float]] = field(default_factory=list)
    baseline: Range | None = None  # with the recorded threads, of the recorded rate
    simulations: int = 0
    variants: int = 0  # that were simulated
    planned: int = 0
    ending: BaseException | None = None  # what ended the simulations early

    @property
    def most(self) -> int:
        """The largest number of threads."""
        return self.threads[-1]
