# SPDX-License-Identifier: MIT
"""Threads wait while the holder allocates or frees memory."""

from __future__ import annotations

import re

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import (
    CALL,
    FEW_SAMPLES,
    MOST,
    PAGE_FAULT,
    PART,
)
from hasp.profile.diagnosis.causes.words import call, number, share, time
from hasp.profile.model.holding import Holding

FILLS = re.compile(r"mem(?:set|cpy|move|pcpy)|bzero")


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if holders allocate memory while other threads wait."""
    part = allocating(one)
    if part < PART:
        return None
    return Cause(
        "allocation",
        one.name,
        f"{one.waiting} while {call(one.holder)} allocates memory under it, "
        f"{time(one.each_hold)} each time",
        ("Allocate and free outside the lock",),
        one.loss * part,
        (_evidence(one, part),),
        one.site.number,
        one.holder,
    )


def allocating(one: SiteFacts) -> float:
    """Return the share of the holders' time in which they allocate or free memory."""
    holding = one.site.holding
    sampled = holding.allocation_share if holding else None
    if holding is None or sampled is None:
        return faulting(one)
    enough = FEW_SAMPLES / 2 if sampled >= MOST else FEW_SAMPLES
    if holding.running_samples < enough:
        sampled = 0.0
    return max(sampled, faulting(one))


def faulting(one: SiteFacts) -> float:
    """Return the share of CPU time in page faults, if sections cause them; else 0.

    Newly mapped memory faults at its first use. The faults are attributed to the
    sections if there is at least one for each and sections take most of the CPU time,
    or a quarter of it if they were seen filling memory. Their cost is the kernel's CPU
    time. All this is without the time to wake waiters.
    """
    facts = one.facts
    faults = sum(thread.minor_faults for thread in one.users)
    sections = one.use.acquisitions
    # While threads wait, each release wakes one of them, often in vain.
    watched = min(one.wait_ns / facts.busy_ns, 1.0)
    waking = max(one.use.contended, watched * sections) * CALL
    waking = min(waking, max(facts.system_ns - faults * PAGE_FAULT, 0.0))
    least = PART if _fills_memory(one) else MOST
    working = facts.cpu_ns - waking
    if not sections or faults < sections or one.hold_ns < least * working:
        return 0.0
    return (facts.system_ns - waking) / max(working, 1.0)


def _fills_memory(one: SiteFacts) -> bool:
    """Return true if holders were mostly seen setting or copying memory."""
    holding = one.site.holding
    if holding is None or holding.running_samples < FEW_SAMPLES:
        return False
    return any(
        function.share >= MOST and FILLS.search(function.function)
        for function in holding.functions
    )


def _evidence(one: SiteFacts, part: float) -> str:
    holding = one.site.holding
    if holding is None or faulting(one) >= (holding.allocation_share or 0.0):
        faults = sum(thread.minor_faults for thread in one.users)
        return (
            f"{number(faults / one.use.acquisitions)} page faults for each section "
            f"take {share(part)} of the CPU time"
        )
    where = _function(holding)
    return (
        f"holders allocate or free memory{where} for {share(part)} of the time, in "
        f"{holding.running_samples} samples of their code"
    )


def _function(holding: Holding) -> str:
    found = next((one for one in holding.functions if one.allocates), None)
    return f" ({found.function})" if found else ""
