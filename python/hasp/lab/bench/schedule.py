# SPDX-License-Identifier: MIT
"""Interleaved rounds in random order, within a time limit.

Each round measures every case once under every lock. The locks of one case run back to
back, so that a temporary slowdown affects all of them and cancels in the ratios of the
round.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from hasp.lab.bench.cases import BATON, BATON_RING, FLOOR, GLIBC, OVERSUBSCRIBED, Case
from hasp.lab.bench.runner import OK, Sample

BAD_RUNS_MOST = 2  # after which the lock is dropped for that case
PROCESS_SECONDS = 0.015  # overhead of starting a measurement, for the first estimate

Measure = Callable[[Case, str], Sample]


@dataclass
class Samples:
    """All samples so far, by (case, subject) and round."""

    of: dict[tuple[Case, str], dict[int, Sample]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    rounds: int = 0  # completed


@dataclass(frozen=True)
class Step:
    """The next measurement, and the overall progress."""

    round_number: int
    rounds: int
    case: Case
    subject: str
    seconds_left: float


def subjects_of(case: Case, locks: Sequence[str]) -> list[str]:
    """Return the locks and references of a case, in the order of reports."""
    if not case.uses_lock:
        return [BATON]
    floor = [FLOOR] if case.has_floor else []
    return [GLIBC, *floor, *(lock for lock in locks if lock != GLIBC)]


def groups_of(cases: Sequence[Case]) -> list[list[Case]]:
    """Group the cases whose measurements must be adjacent: a case and its reference."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        name = OVERSUBSCRIBED if case.name == BATON_RING else case.name
        groups.setdefault((name, case.load), []).append(case)
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
    """Fill `samples`, yielding before each measurement so that a caller can show it.

    With a limit (seconds), a group of measurements that would exceed it is not started.
    """
    start = clock()
    groups = groups_of(cases)
    # The last duration of each group.
    took = {n: expected_seconds(group, locks) for n, group in enumerate(groups)}
    order = random.Random()
    for number in range(rounds):
        places = list(range(len(groups)))
        order.shuffle(places)
        for index in places:
            began = clock()
            if limit_seconds is not None and (
                began - start + took[index] > limit_seconds
            ):
                continue
            plan = [
                (case, subject)
                for case in groups[index]
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
            took[index] = clock() - began
        samples.rounds = number + 1
        if (
            limit_seconds is not None
            and clock() - start + min(took.values()) > limit_seconds
        ):
            return


def expected_seconds(cases: Sequence[Case], locks: Sequence[str]) -> float:
    """Return the seconds that a round of these cases takes if no lock collapses."""
    return sum(
        (case.seconds if case.name != "bytes_per_mutex" else 0.1) + PROCESS_SECONDS
        for case in cases
        for _ in subjects_of(case, locks)
    )


def given_up(samples: Samples, case: Case, subject: str) -> bool:
    """Return whether a lock failed too often in a case to be run again.

    A collapsed lock whose threads did not finish counts as a failure: each such run
    takes many times the measured time and adds no information.
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
