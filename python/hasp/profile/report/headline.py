# SPDX-License-Identifier: MIT
"""The headline of a report: the verdict and its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hasp.profile.diagnosis.diagnose import Diagnosis, diagnose
from hasp.profile.model.profile import Profile
from hasp.profile.model.waiting import waiting
from hasp.profile.report.figures import idle_rows, rows


@dataclass(frozen=True)
class Verdict:
    """The verdict in one sentence, with its evidence."""

    sentence: str
    evidence: tuple[str, ...] = ()  # at most five lines
    diagnosis: Diagnosis | None = None  # None: there was nothing to diagnose
    hang: tuple[str, ...] = ()  # which thread waited for which in a final deadlock
    record: dict[str, Any] = field(default_factory=dict)  # the verdict as JSON


EMPTY = (
    "the program used no lock: it called no function of pthread mutexes, rwlocks, "
    "spinlocks, condition variables or barriers while more than one thread ran."
)
DOUBTFUL = "no lock was found in the readable part of this trace."
DAMAGED = "this trace is damaged, and parts of it are missing here: "


DELEGATED = (
    "the program used no lock of pthread, but it delegated sections: their delegates "
    "and servers are listed below."
)


def is_empty(profile: Profile) -> bool:
    """Return true if no lock in the trace was used."""
    return not rows(profile) and not idle_rows(profile)


def empty_words(profile: Profile) -> str:
    """Explain why no lock was used, which an incomplete trace cannot prove."""
    if profile.delegation:
        return DELEGATED
    if profile.damaged:
        return DAMAGED + DOUBTFUL
    if profile.warnings:
        return DOUBTFUL
    others = [one.name for one in profile.unseen_runtimes]
    unseen = f" Locks of {', '.join(others)} are not seen." if others else ""
    return EMPTY + unseen


def verdict(profile: Profile) -> Verdict:
    """Return the verdict of the diagnosis; all forms of a report print its words."""
    if is_empty(profile):
        words = empty_words(profile)
        return Verdict(words, record=_nothing(words))
    found = diagnose(profile)
    hang = waiting(profile)
    return Verdict(
        found.sentence,
        found.evidence,
        found,
        tuple(hang.lines()) if hang.is_deadlock else (),
        found.as_json(),
    )


def _nothing(words: str) -> dict[str, Any]:
    names = ("cause", "lock", "site", "holder", "remedy", "confidence")
    return {"sentence": words, **dict.fromkeys(names), "saves": 0.0, "evidence": []}
