# SPDX-License-Identifier: MIT
"""The confidence in a verdict, and the disturbances of the measurement."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.limits import DISTURBED, FEW
from hasp.profile.diagnosis.causes.words import share, time
from hasp.profile.model.clock import FEWEST_NS
from hasp.profile.model.neighbour import Neighbour

# Shorter runs have less than a hundred samples of the holders.
SHORT = 1e9  # ns
# Causes that do not show as waits for locks.
WITHOUT_WAITS = (
    "idle-locks",
    "biased",
    "shared-line",
    "trylock-loop",
    "herd",
    "needless-waits",
)
# The largest share of the program's time that recording may take.
COSTLY = 0.1


@dataclass(frozen=True)
class Confidence:
    """A level of confidence, and the reasons why it is not high."""

    level: str  # high, medium or low
    lines: tuple[str, ...]


def confidence_in(facts: Facts, lead: Cause) -> Confidence:
    """Return the confidence in a cause."""
    profile = facts.profile
    grave: list[str] = []
    slight: list[str] = []
    if profile.damaged:
        grave.append("the trace is damaged: parts of it are missing here")
    if lead.fault:
        return _of(grave, slight)
    if profile.duration_ns < FEWEST_NS:
        grave.append("the program ended, or was killed, within a few milliseconds")
        return _of(grave, slight)
    granted = facts.granted
    if granted is not None and granted < DISTURBED:
        grave.append(_disturbed(granted, profile.neighbour))
    waits = sum(one.use.contended for one in facts.sites)
    shown_by_waits = lead.waits and lead.id not in WITHOUT_WAITS
    if lead.site is not None and shown_by_waits and waits < FEW:
        noun = "acquisition" if waits == 1 else "acquisitions"
        slight.append(f"only {waits} {noun} waited: record for longer")
    elif profile.duration_ns < SHORT:
        slight.append(f"the run took {time(profile.duration_ns)}: record for longer")
    if profile.overhead.share > COSTLY:
        slight.append(
            f"recording took {share(profile.overhead.share)} of the program's time: "
            "try --sample"
        )
    return _of(grave, slight)


def _disturbed(granted: float, neighbour: Neighbour | None) -> str:
    """Say that other programs used the CPUs, and which one most.

    That may be the program's own load, which belongs to the measurement.
    """
    got = f"this one got {share(granted)} of the time it could use"
    if neighbour is None:
        return f"other programs used the CPUs ({got}): record again on an idle machine"
    return (
        f"{neighbour.name} used at least {neighbour.cpus:.1f} CPUs meanwhile ({got}): "
        "unless it is the load, record again on an idle machine"
    )


def _of(grave: list[str], slight: list[str]) -> Confidence:
    level = "low" if grave else "medium" if slight else "high"
    return Confidence(level, (*grave, *slight)[:2])
