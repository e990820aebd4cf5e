# SPDX-License-Identifier: MIT
"""A prediction as a JSON object of the schema hasp.elide/1."""

from __future__ import annotations

from typing import Any

from hasp.elide.answer import LockAnswer, Prediction
from hasp.elide.options import Options
from hasp.elide.report import doubts
from hasp.elide.verdict import kind_of, verdict
from hasp.profile.model.profile import Profile

SCHEMA = "hasp.elide/1"
PREDICTION = "prediction"


def document(
    options: Options, profile: Profile, prediction: Prediction
) -> dict[str, Any]:
    """Return the object; ranges are objects of `median`, `low` and `high`."""
    return {
        "schema": SCHEMA,
        "kind": PREDICTION,
        "verdict": verdict(prediction),
        "elision": kind_of(prediction),
        "command": list(profile.command),
        "machine": prediction.machine,
        "cpus": prediction.cpus,
        "lock": prediction.lock,
        "threads": list(prediction.threads),
        "assumptions": [one.value for one in prediction.assumptions],
        "conflicts": options.conflicts,
        "baseline": prediction.baseline and prediction.baseline.as_json(),
        "configurations": [
            {
                "configuration": point.configuration.name,
                "thesis": point.configuration.thesis,
                "threads": point.threads,
                "data": point.data.value,
                "to_fine": ratio.as_json(),
            }
            for point, ratio in prediction.points.items()
        ],
        "inner_trylocks": prediction.has_inner_trylocks,
        "locks": [_lock(one) for one in prediction.locks],
        "simulations": prediction.simulations,
        "interrupted": prediction.ending is not None,
        "doubts": list(doubts(profile, prediction)) if prediction.load else [],
    }


def interrupted(kind: str) -> dict[str, Any]:
    """Return the object if the command was interrupted before anything was known."""
    return {
        "schema": SCHEMA,
        "kind": kind,
        "verdict": "Interrupted: nothing is known yet.",
        "interrupted": True,
    }


def _lock(one: LockAnswer) -> dict[str, Any]:
    return {
        "site": one.name,
        "locks": one.locks,
        "sections_per_s": one.sections_per_s,
        "hold_ns": one.hold_ns,
        "lines": one.lines,
        "elision": one.judgement,
        "never": one.obstacles.never,
        "obstacles": [
            {"kind": each.kind, "share": each.share, "words": each.words}
            for each in one.obstacles.found
        ],
        "inner_trylocks": one.obstacles.inner_tries,
        "outlooks": [
            {
                "data": data.value,
                "committed": look.committed.as_json(),
                "aborts_per_section": dict(look.aborts),
                "taking": look.fine.as_json(),
                "taking_elided": look.elided.as_json(),
            }
            for data, look in one.outlooks.items()
        ],
    }
