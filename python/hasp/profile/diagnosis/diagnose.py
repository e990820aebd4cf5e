# SPDX-License-Identifier: MIT
"""The verdict on a profile: one sentence, at most five lines of evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.words import ADDRESS, sentence
from hasp.profile.diagnosis.confidence import Confidence, confidence_in
from hasp.profile.diagnosis.proven import Proven
from hasp.profile.diagnosis.ranking import ranked
from hasp.profile.model.profile import Profile

EVIDENCE = 5  # lines
ALSO = 2  # other causes among them


@dataclass(frozen=True)
class Diagnosis:
    """The causes of a program's trouble with locks, the worst first."""

    lead: Cause
    others: tuple[Cause, ...]  # faults first, then the largest saving
    confidence: Confidence

    @property
    def sentence(self) -> str:
        """The verdict: at most 160 characters, with the remedy."""
        return said(self.lead)

    @property
    def evidence(self) -> tuple[str, ...]:
        """At most five lines: doubts, facts, other causes, and how to get names."""
        doubts = self.confidence.lines
        said_too = dict.fromkeys(f"also: {said(cause)}" for cause in self.others)
        also = list(said_too)[:ALSO]
        room = EVIDENCE - len(doubts) - len(also)
        facts = self.lead.evidence[: max(room, 0)]
        return (*doubts, *facts, *also, *_nameless(self.lead))[:EVIDENCE]

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as `hasp report --json` writes it."""
        return {
            **cause_json(self.lead),
            "evidence": list(self.evidence),
            "confidence": self.confidence.level,
        }


def _nameless(cause: Cause) -> tuple[str, ...]:
    """Return how to get names if the verdict can only give an address instead."""
    name = cause.holder or cause.subject
    address = ADDRESS.search(name)
    if address is None:
        return ()
    file = name[: address.start()]
    return (
        f"{name} has no name: install the debug package of {file}, or build it with "
        "-g, and record again",
    )


def said(cause: Cause) -> str:
    """Return the sentence about a cause."""
    return sentence(cause.subject, cause.problem, cause.advice)


def cause_json(cause: Cause) -> dict[str, Any]:
    """Return one cause as a record."""
    return {
        "sentence": said(cause),
        "cause": cause.id,
        "lock": cause.subject or None,
        "site": cause.site,
        "holder": cause.holder or None,
        "remedy": cause.remedy,
        "saves": cause.saves,
        "evidence": list(cause.evidence),
    }


def diagnose(profile: Profile) -> Diagnosis:
    """Return the diagnosis of a profile with at least one lock."""
    facts = Facts(profile)
    proven = Proven(profile.proofs)
    lead, *others = (
        replace(cause, advice=proven.heeded(cause.advice)) for cause in ranked(facts)
    )
    lead = replace(lead, evidence=(*proven.evidence, *lead.evidence))
    return Diagnosis(lead, tuple(others), confidence_in(facts, lead))
