# SPDX-License-Identifier: MIT
"""The shape of the times between outermost sections, as the recorder measured it.

It matters how regularly a thread takes a lock. If it takes the lock twice in a row and
then works for a long time, a lock under which threads may overtake others is handed
over half as often as with regular intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate

from hasp.predict.idling import Idling, waits_of
from hasp.predict.load import Shape
from hasp.predict.roles import Group
from hasp.predict.shapes import shape_of
from hasp.profile.model.distribution import NOTHING, Distribution
from hasp.profile.model.kinds import Operation
from hasp.profile.model.profile import Profile

LEAST = 100  # measurements; fewer show no shape
MOSTLY = 0.7  # least ratio of the two numbers of sections, measured and simulated
SLEPT_MOST = 0.5  # of the times
MEASURED = (Operation.LOCK, Operation.READ, Operation.WRITE)


def gaps_of(
    group: Group, profile: Profile, idling: Mapping[int, Idling]
) -> Shape | None:
    """Return the shape of the times between two sections in which the threads worked.

    None if it is not known: too few times were measured, or many of those measured are
    between sections of locks that are not simulated.
    """
    numbers = {number for one in group.customers for number in one.threads}
    own = [thread for thread in profile.threads if thread.number in numbers]
    times = sum((thread.between for thread in own), NOTHING)
    sections = group.sections
    measured = sum(_measured(profile, number) for number in numbers)
    if times.timed < LEAST or min(measured, sections) < MOSTLY * max(
        measured, sections
    ):
        return None
    switches = sum(thread.voluntary + thread.involuntary for thread in own)
    # Waits on condition variables are not among the times.
    waits = sum(one.population * waits_of(one, idling) for one in group.customers)
    slept = max(0.0, switches - waits) / sections
    if slept > SLEPT_MOST:
        return None
    return shape_of(_without_longest(times, slept))


def _measured(profile: Profile, thread: int) -> int:
    """Return the number of a thread's sections that a measurement may follow.

    Those that waited for their lock, and those after a wait on a condition variable,
    are not.
    """
    found = 0
    for site in profile.sites:
        for operation, use in site.threads.get(thread, {}).items():
            if operation in MEASURED:
                found += max(0, use.acquisitions - use.nested - use.contended)
    return found


def _without_longest(times: Distribution, share: float) -> Distribution:
    """Return a distribution without that share of it, the longest durations."""
    kept = round(sum(times.counts) * (1 - share))
    ends = accumulate(times.counts)
    counts = tuple(
        max(0, min(count, kept - (end - count)))
        for count, end in zip(times.counts, ends, strict=True)
    )
    return replace(times, counts=counts)
