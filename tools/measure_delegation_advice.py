#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judge the rule by which `hasp advise --machine` proposes delegation, by simulation.

    PYTHONPATH=python tools/measure_delegation_advice.py

Each load is recorded first, so to speak: two simulated threads give the median time of
its sections, which the rule takes for their work. The rule's sections then write a line
that they share, and none or many, under a few locks and executors. The load's own
sections write as many lines as they do, under all locks and executors that may be the
best, with a thread for each CPU. An executor wins if it executes delegation.MARGIN
times as many sections as the best lock; a gain within 5 % of that is a tie, for which
no answer is wrong.

Prints the loads for which the two disagree, and for how many they agree: of a grid of
loads, and of loads drawn by lot. The results are the same on every host; takes four
minutes on two CPUs.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from hasp.advise import delegation, forecast
from hasp.lab.simulate.machines import machine
from no_options import no_options

MACHINE = machine.load("opteron-48")
LOCKS = ("futex", "mcs", "clh-prefetch", "auto", "u-scl", "hmcs", "cna", "ticket")
EXECUTORS = ("adaptive", "cc-synch", "rcl", "flat-combining", "ffwd")
LINES = (0, 1, 5, 20)
WORK_NS = (0, 300, 1000, 5000, 20_000)  # in a section, besides its lines
PAUSES_NS = (500, 2000, 10_000, 30_000, 100_000)
# The loads drawn by lot, which were judged once, after the rule was written.
DRAWN, SEED = 60, 3
MOST_LINES, LEAST_NS, MOST_WORK_NS, MOST_PAUSE_NS = 30, 100, 20_000, 200_000
# Locks within 5 % of the best one are among the best (docs/advice.md, `best`).
TIE = 0.05


class Load(NamedTuple):
    """Sections that write lines and compute, and the pauses between them."""

    lines: int
    work_ns: int
    pause_ns: int


@dataclass(frozen=True)
class Judgement:
    """The simulated gain of a load, and what the rule says about it."""

    load: Load
    recorded_ns: int
    gain: float
    predicted: delegation.Prediction

    @property
    def is_tie(self) -> bool:
        """Whether no answer is wrong."""
        return abs(self.gain / delegation.MARGIN - 1) <= TIE

    @property
    def is_right(self) -> bool:
        """Whether delegation is proposed exactly if it wins."""
        proposed = self.predicted.wins(self.load.lines)
        return proposed == (self.gain >= delegation.MARGIN)

    @property
    def row(self) -> str:
        """Return it as a row of a table."""
        load, predicted = self.load, self.predicted
        cells = (
            f"{load.lines}",
            f"{load.work_ns:,}",
            f"{load.pause_ns:,}",
            f"{self.recorded_ns:,}",
            f"{self.gain:.2f}{' (tie)' if self.is_tie else ''}",
            f"{predicted.written.ratio:.2f}",
            f"{predicted.read.ratio:.2f}" if predicted.read else "",
            f"{predicted.wide.ratio:.2f}" if predicted.wide else "",
        )
        return f"| {' | '.join(cells)} |"


def grid() -> Iterator[Load]:
    """Yield the loads of the grid."""
    yield from map(Load._make, product(LINES, WORK_NS, PAUSES_NS))


def drawn() -> Iterator[Load]:
    """Yield the loads drawn by lot: times are log-uniform, a third does not compute."""
    lot = random.Random(SEED)

    def time_up_to(most: int) -> int:
        return round(math.exp(lot.uniform(math.log(LEAST_NS), math.log(most))))

    for _ in range(DRAWN):
        work = time_up_to(MOST_WORK_NS) if lot.random() > 1 / 3 else 0
        yield Load(lot.randint(0, MOST_LINES), work, time_up_to(MOST_PAUSE_NS))


def recorded_ns(load: Load) -> int:
    """Return the median time of a section that `hasp profile` would show: of two
    threads, with glibc's algorithm, without the release."""
    empty = Load(0, 0, load.pause_ns)
    return max(0, round(after_acquiring_ns(load) - after_acquiring_ns(empty)))


@cache
def after_acquiring_ns(load: Load) -> float:
    return delegation.after_acquiring_ns(MACHINE, duration_of(load), knobs_of(load))


def duration_of(load: Load) -> int:
    return max(forecast.DURATION_NS, 50 * (load.work_ns + load.pause_ns))


def knobs_of(load: Load) -> dict[str, str]:
    knobs = {
        "cs_lines": load.lines,
        "cs_ns": load.work_ns,
        "think_ns": load.pause_ns,
        "think_cycles": 0,
    }
    return {name: str(value) for name, value in knobs.items()}


def gain(load: Load) -> float:
    """Return the ratio of the best executor to the best lock."""
    duration, knobs = duration_of(load), {**knobs_of(load), "locks": "1"}
    locks = delegation.rates_of(MACHINE, duration, LOCKS, knobs)
    executors = [
        delegation.rates_of(MACHINE, duration, ("mcs",), {**knobs, "executor": name})
        for name in EXECUTORS
    ]
    return max(rates["mcs"] for rates in executors) / max(locks.values())


@cache
def prediction(section_ns: int, pause_ns: int) -> delegation.Prediction:
    found = delegation.predict(MACHINE, section_ns, pause_ns, 1)
    assert found
    return found


def judge(load: Load) -> Judgement:
    section = recorded_ns(load)
    return Judgement(load, section, gain(load), prediction(section, load.pause_ns))


def print_judged(title: str, loads: Sequence[Load]) -> None:
    """Print the disagreements, and how many loads agree."""
    print(f"\n{title}:\n")
    print(
        "| lines | work, ns | pause, ns | recorded, ns | gain | rule | read only "
        "| many lines |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    judged = [judge(load) for load in loads]
    wrong = [each for each in judged if not each.is_right]
    for each in wrong:
        print(each.row)
    ties = sum(each.is_tie for each in wrong)
    wins = sum(each.gain >= delegation.MARGIN for each in judged)
    print(f"\nRight for {len(judged) - len(wrong)} of {len(judged)} loads; ", end="")
    print(f"{ties} of the others are ties. Executors win for {wins}.")


def main() -> int:
    """Print the disagreements, and how many loads there are."""
    no_options(__doc__)
    print_judged("A grid", list(grid()))
    print_judged("Drawn by lot", list(drawn()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
