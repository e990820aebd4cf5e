# SPDX-License-Identifier: MIT
"""Verdicts as JSON objects, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hasp.simulate.validation.causes import cause_of
from hasp.simulate.validation.claim import Verdict
from hasp.simulate.validation.scope import CLAIMS

SCHEMA = "hasp.validate/1"
UNKNOWN_CAUSE = "cause not known"


def record(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a JSON object."""
    claim = verdict.claim
    return {
        "schema": SCHEMA,
        "id": claim.id,
        "source": claim.group,
        "machine": claim.machine,
        "kind": claim.kind,
        "claim": claim.says,
        "paper": claim.paper,
        "simulated": verdict.simulated,
        "deviation": verdict.deviation,
        "agrees": verdict.agrees,
        "why": why(verdict),
    }


def why(verdict: Verdict) -> str:
    """How the answer came about, and for a miss what its cause is."""
    if verdict.agrees is not False:
        return verdict.why
    cause = cause_of(verdict.claim.id) or UNKNOWN_CAUSE
    return f"{verdict.why}; {cause}" if verdict.why else cause


def from_record(found: Mapping[str, Any]) -> Verdict:
    """The verdict that a record tells of."""
    claim = next(
        claim
        for claim in CLAIMS
        if (claim.id, claim.machine) == (found["id"], found["machine"])
    )
    return Verdict(
        claim, found["simulated"], found["agrees"], found["why"], found["deviation"]
    )
