# SPDX-License-Identifier: MIT
"""Handing the lock over to a sleeping waiter takes longer than the section."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW, MOST
from hasp.profile.diagnosis.causes.tiny_section import is_tiny
from hasp.profile.diagnosis.causes.words import call, share, time
from hasp.profile.model.profile import Kind


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if most acquisitions are handovers that outlast the section."""
    use = one.use
    if one.site.kind is not Kind.MUTEX or use.contended < FEW:
        return None
    handover = use.handover.mean_ns or 0.0
    hold = one.working_ns / max(use.acquisitions, 1)
    changes = one.owner_changes / max(use.acquisitions, 1)
    often = one.contended >= MOST and changes >= MOST
    inherits = any("priority" in lock.flags for lock in one.site.locks[:1])
    if handover <= hold or not (often or inherits):
        return None
    if not inherits and is_tiny(one):  # an atomic instruction needs no handover
        return None
    advice = ("Let running threads overtake: hasp run --lock futex",)
    if inherits:
        advice = ("Create it without PTHREAD_PRIO_INHERIT, so that others overtake",)
    return Cause(
        "convoy",
        one.name,
        f"handing it over to a sleeping thread takes {time(handover)}, "
        f"{call(one.holder)} holds it for {time(hold)}",
        (*advice, "Use an unfair lock"),
        one.facts.share(one.wait_ns * handover / (handover + hold)),
        (
            f"{share(one.contended)} of the acquisitions wait, and "
            f"{share(changes)} change the owner",
        ),
        one.site.number,
        one.holder,
    )
