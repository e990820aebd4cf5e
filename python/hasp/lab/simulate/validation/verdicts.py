# SPDX-License-Identifier: MIT
"""Convert verdicts to and from JSON objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hasp.lab.simulate.validation.causes import cause_of
from hasp.lab.simulate.validation.claim import Claim, Verdict
from hasp.lab.simulate.validation.lock_sets import Form
from hasp.lab.simulate.validation.scope import CLAIMS

SCHEMA = "hasp.validate/2"
UNKNOWN_CAUSE = "cause unknown"


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
        **_answer(verdict, Form.PUBLISHED),
        "shipped": _answer(verdict.shipped, Form.SHIPPED) if verdict.shipped else None,
    }


def _answer(verdict: Verdict, form: Form) -> dict[str, Any]:
    return {
        "simulated": verdict.simulated,
        "deviation": verdict.deviation,
        "agrees": verdict.agrees,
        "why": why(verdict, form),
    }


def why(verdict: Verdict, form: Form) -> str:
    """A description of the answer and, for a miss, its cause."""
    if verdict.agrees is not False:
        return verdict.why
    cause = cause_of(verdict.claim.id, form) or UNKNOWN_CAUSE
    return f"{verdict.why}; {cause}" if verdict.why else cause


def from_record(found: Mapping[str, Any]) -> Verdict:
    """The verdict in a record of `record()`."""
    claim = next(
        claim
        for claim in CLAIMS
        if (claim.id, claim.machine) == (found["id"], found["machine"])
    )
    verdict = _from_answer(claim, found)
    shipped = found["shipped"]
    return replace(verdict, shipped=_from_answer(claim, shipped) if shipped else None)


def _from_answer(claim: Claim, found: Mapping[str, Any]) -> Verdict:
    return Verdict(
        claim, found["simulated"], found["agrees"], found["why"], found["deviation"]
    )
