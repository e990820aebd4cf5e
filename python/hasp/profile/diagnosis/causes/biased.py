# SPDX-License-Identifier: MIT
"""A lock that only one thread ever takes, so often that it costs time."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW, OPERATION, PART
from hasp.profile.diagnosis.causes.shared_line import in_line
from hasp.profile.diagnosis.causes.words import call, number

# Tolerated owner changes per acquisition: another thread may initialise and shut down.
RARELY = 0.001


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if each lock has one user."""
    use = one.use
    if not use.acquisitions or use.contended > RARELY * use.acquisitions:
        return None
    if use.contended >= FEW:  # another thread needs it regularly
        return None
    if one.owner_changes > RARELY * use.acquisitions:
        return None
    cost = one.facts.share(use.acquisitions * OPERATION)
    if one.facts.workers < 2 and cost < PART:
        return None  # a single worker: others may want the lock in another run
    return Cause(
        "biased",
        one.name,
        f"{call(one.holder)} takes it {number(one.rate)} times per second, "
        "and no other thread ever wants it",
        ("Drop the lock, or lock once for many operations", "Drop the lock"),
        cost,
        (
            f"{number(use.acquisitions)} acquisitions, {use.contended} had to wait",
            *in_line(one),
        ),
        one.site.number,
        one.holder,
    )
