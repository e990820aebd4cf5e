# SPDX-License-Identifier: MIT
"""Threads wait on a condition variable without need, or wake up without work."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.conditions import ConditionFacts
from hasp.profile.diagnosis.causes.limits import MOST
from hasp.profile.diagnosis.causes.words import number, share, within


def detect(one: ConditionFacts) -> Cause | None:
    """Return the cause if most waits end without anything to do."""
    if one.again < MOST:
        return None
    return Cause(
        "needless-waits",
        one.name,
        f"{share(one.again)} of the wake-ups{within(one.function)} find nothing to "
        "do, and the thread waits again",
        (
            "Check the condition before waiting, and signal only when it holds",
            "Signal only when the condition holds",
        ),
        one.cost_share * one.again,
        (
            f"{number(one.use.acquisitions)} waits, {number(one.use.signals)} signals, "
            f"{number(one.use.broadcasts)} broadcasts, {number(one.use.timeouts)} "
            "time-outs",
        ),
        one.site.number,
        one.function,
    )
