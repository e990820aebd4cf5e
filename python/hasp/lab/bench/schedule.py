# SPDX-License-Identifier: MIT
"""Interleaved rounds in random order, within a time limit.

In each round every case is measured once under every lock. The locks of one case follow
each other directly, so that what slows the machine for a while slows all of them, and
the ratio of a round is worth more than its figures.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from hasp.lab.bench.cases import BATON, BATON_RING, FLOOR, GLIBC, OVERSUBSCRIBED, Case
from hasp.lab.bench.runner import OK, Sample

BAD_RUNS_MOST = 2  # then a lock is not asked again for that case
PROCESS_SECONDS = (
    0.015  # what a measurement takes beside measuring, for the first guess
)

Measure = Callable[[Case, str], Sample]


@dataclass
class Samples:
    """All samples so far: (case, subject) -> round -> sample."""

    of: dict[tuple[Case, str], dict[int, Sample]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    rounds: int = 0  # complete ones


@dataclass(frozen=True)
class Step:
    """What is about to be measured, and how far the whole is."""

    round_number: int
    rounds: int
    case: Case
    subject: str
    seconds_left: float


def subjects_of(case: Case, locks: Sequence[str]) -> list[str]:
    """What a case is measured with, in the order of reports."""
    if not case.uses_lock:
        return [BATON]
    floor = [FLOOR] if case.has_floor else []
    return [GLIBC, *floor, *(lock for lock in locks if lock != GLIBC)]


def groups_of(cases: Sequence[Case]) -> list[list[Case]]:
    """Cases whose measurements stay together: a case and its reference."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        name = OVERSUBSCRIBED if case.name == BATON_RING else case.name
        groups.setdefault(f"{name} {case.threads}", []).append(case)
    return list(groups.values())


def run_rounds(
    measure: Measure,
    cases: Sequence[Case],
    locks: Sequence[str],
    rounds: int,
    limit_seconds: float | None,
    samples: Samples,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Step]:
    """Fill `samples`; yields before each measurement, so that a caller can show it.

    With a limit, no group of measurements is begun that would end after it.
    """
    start = clock()
    groups = groups_of(cases)
    # The last duration of each group.
    took = {n: expected_seconds(group, locks) for n, group in enumerate(groups)}
    order = random.Random()
    for number in range(rounds):
        places = list(range(len(groups)))
        order.shuffle(places)
        for place in places:
            began = clock()
            if limit_seconds is not None and (
                began - start + took[place] > limit_seconds
            ):
                continue
            plan = [
                (case, subject)
                for case in groups[place]
                for subject in subjects_of(case, locks)
                if not given_up(samples, case, subject)
            ]
            order.shuffle(plan)
            for case, subject in plan:
                left = _seconds_left(
                    clock() - start, number, rounds, took, limit_seconds
                )
                yield Step(number + 1, rounds, case, subject, left)
                samples.of[case, subject][number] = measure(case, subject)
            took[place] = clock() - began
        samples.rounds = number + 1
        if (
            limit_seconds is not None
            and clock() - start + min(took.values()) > limit_seconds
        ):
            return


def expected_seconds(cases: Sequence[Case], locks: Sequence[str]) -> float:
    """What a round of these cases takes if nothing collapses."""
    return sum(
        (case.seconds if case.name != "bytes_per_mutex" else 0.1) + PROCESS_SECONDS
        for case in cases
        for _ in subjects_of(case, locks)
    )


def given_up(samples: Samples, case: Case, subject: str) -> bool:
    """Whether a lock went wrong in a case so often that it is not run again.

    Nor is one that collapsed so far that its threads did not come to an end: each such
    run takes many times the measured time, and says the same again.
    """
    taken = samples.of.get((case, subject), {}).values()
    return sum(sample.outcome != OK for sample in taken) >= BAD_RUNS_MOST


def _seconds_left(
    elapsed: float,
    number: int,
    rounds: int,
    took: dict[int, float],
    limit_seconds: float | None,
) -> float:
    one_round = sum(took.values())
    if number:
        one_round = max(one_round, elapsed / (number + 1))
    left = max(0.0, rounds * one_round - elapsed)
    return min(left, limit_seconds - elapsed) if limit_seconds is not None else left
