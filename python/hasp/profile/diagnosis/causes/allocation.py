# SPDX-License-Identifier: MIT
"""Threads wait while the holder allocates or frees memory."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW_SAMPLES, PART
from hasp.profile.diagnosis.causes.words import call, share, time
from hasp.profile.model.holding import Holding


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if holders allocate for a part of the time that others wait."""
    holding = one.site.holding
    part = holding.allocation_share if holding else None
    if holding is None or holding.samples < FEW_SAMPLES or not part or part < PART:
        return None
    where = _function(holding)
    return Cause(
        "allocation",
        one.name,
        f"{one.waiting} while {call(one.holder)} allocates memory under it, "
        f"{time(one.each_hold)} each time",
        ("Allocate and free outside the lock",),
        one.loss * part,
        (
            f"holders allocate or free memory{where} for {share(part)} of the time, in "
            f"{holding.samples} samples with waiters",
        ),
        one.site.number,
        one.holder,
    )


def _function(holding: Holding) -> str:
    found = next((one for one in holding.functions if one.allocates), None)
    return f" ({found.function})" if found else ""
