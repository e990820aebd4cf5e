# SPDX-License-Identifier: MIT
"""A broadcast wakes many threads, and one of them finds work."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.conditions import ConditionFacts
from hasp.profile.diagnosis.causes.words import number, share, within

# Threads woken by each broadcast.
MANY = 2.0
AGAIN = 0.25  # of the wake-ups; others find the work of further broadcasts
# A broadcast wakes fewer threads if most of those woken by the previous one still wait
# for the mutex. Then the record must show that this share of the wake-ups is in vain.
SOME = 1.5
IN_VAIN = 0.4
NONE_WORKS = 0.75  # from this share on, not even one of the woken threads finds work


def detect(one: ConditionFacts) -> Cause | None:
    """Return the cause if broadcasts wake several threads that then wait again."""
    use = one.use
    if not use.broadcasts or use.broadcasts < use.signals:
        return None
    woken = one.wakes / one.heard_broadcasts
    if not _in_vain(one, woken):
        return None
    wasted = max(woken - 1, 0.0) / woken
    return Cause(
        "herd",
        one.name,
        f"each broadcast wakes {woken:.0f} threads{within(one.function)} for one "
        "piece of work; the others wait again",
        ("Signal one thread instead (pthread_cond_signal)", "Signal one thread"),
        one.cost_share * wasted,
        (
            f"{number(one.heard_broadcasts)} broadcasts, {number(one.wakes)} wake-ups, "
            f"{share(one.again)} of them in vain",
        ),
        one.site.number,
        one.function,
    )


def _in_vain(one: ConditionFacts, woken: float) -> bool:
    """Return true if enough of the threads that a broadcast wakes wait again."""
    if woken >= MANY:
        return one.again >= min(1 - 1.5 / woken, AGAIN)
    measured = one.use.futile_wakes is not None
    return measured and woken >= SOME and IN_VAIN <= one.again < NONE_WORKS
