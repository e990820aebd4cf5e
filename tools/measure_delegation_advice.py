#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judge the rule by which `hasp advise --machine` proposes delegation, by simulation.

    PYTHONPATH=python tools/measure_delegation_advice.py

The rule simulates any section as one that writes a line that it shares, under a few
locks and executors. Here, sections of a grid write as many lines as they do, under all
that may be the best. Prints the loads for which the two disagree, and for how many
another threshold of the rule is right, for two halves drawn by lot. The results are the
same on every host; takes a minute on two CPUs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from itertools import product

from hasp.advise import delegation, forecast
from hasp.lab.simulate.machines import machine
from no_options import no_options

MACHINE = machine.load("opteron-48")
LOCKS = ("futex", "mcs", "clh-prefetch", "auto", "u-scl", "hmcs", "cna", "ticket")
EXECUTORS = ("adaptive", "cc-synch", "rcl", "flat-combining", "ffwd")
LINES = (1, 0, 5, 20)  # the first one is the rule's
WORK_NS = (0, 300, 1000, 5000, 20_000)  # in a section, besides its lines
PAUSES_NS = (500, 2000, 10_000, 30_000, 100_000)
THRESHOLDS = (1.15, 1.2, 1.25, 1.3, 1.35, 1.4, 1.5)  # of the rule, to be compared

Rates = dict[str, float]


def simulated(lines: int, work: int, pause: int) -> tuple[Rates, Rates]:
    """Return the sections per second under each lock, and with each executor."""
    duration = max(forecast.DURATION_NS, 50 * (work + pause))
    knobs = {"cs_lines": lines, "cs_ns": work, "think_ns": pause, "think_cycles": 0}
    words = {"locks": "1", **{name: str(value) for name, value in knobs.items()}}
    rates = delegation.rates_of
    return rates(MACHINE, duration, LOCKS, words), {
        name: rates(MACHINE, duration, ("mcs",), {**words, "executor": name})["mcs"]
        for name in EXECUTORS
    }


def gain(locks: Rates, executors: Rates) -> float:
    """Return the ratio of the best executor to the best lock."""
    return max(executors.values()) / max(locks.values())


def rule(locks: Rates, executors: Rates) -> float:
    """Return the same for those that the rule simulates."""
    return gain(
        {name: locks[name] for name in delegation.LOCKS},
        {name: executors[name] for name in delegation.EXECUTORS},
    )


def right(gains: Sequence[tuple[float, float]], threshold: float) -> int:
    """Return for how many gains, real ones and the rule's, it is right."""
    wins = delegation.MARGIN
    return sum((real >= wins) == (expected >= threshold) for real, expected in gains)


def main() -> int:
    """Print the disagreements, and how many loads there are."""
    no_options(__doc__)
    wrong = 0
    gains: list[tuple[float, float]] = []
    seen: dict[tuple[int, int], float] = {}
    print(
        "| lines | work, ns | pause, ns | gain | by the rule |\n|--:|--:|--:|--:|--:|"
    )
    for lines, work, pause in product(LINES, WORK_NS, PAUSES_NS):
        found = simulated(lines, work, pause)
        expected = seen.setdefault((work, pause), rule(*found))
        actual = gain(*found)
        gains.append((actual, expected))
        if (actual >= delegation.MARGIN) != (expected >= delegation.MARGIN):
            wrong += 1
            print(f"| {lines} | {work:,} | {pause:,} | {actual:.2f} | {expected:.2f} |")
    loads = len(LINES) * len(WORK_NS) * len(PAUSES_NS)
    print(f"\nThe rule is right for {loads - wrong} of {loads} loads.")
    random.Random(1).shuffle(gains)
    half = loads // 2
    for threshold in THRESHOLDS:
        print(
            f"A threshold of {threshold} is right for {right(gains[:half], threshold)} "
            f"of half of them, and {right(gains[half:], threshold)} of the others."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
