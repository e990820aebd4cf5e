# SPDX-License-Identifier: MIT
"""The answer of `hasp predict` as a JSON object of the schema hasp.predict/1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hasp.predict.answer import Answer
from hasp.predict.options import Options
from hasp.predict.saturation import Saturation
from hasp.profile.model.profile import Profile

SCHEMA = "hasp.predict/1"


def document(
    options: Options, profile: Profile, answer: Answer, doubts: Sequence[str]
) -> dict[str, Any]:
    """Return the object; ranges are objects of `median`, `low` and `high`."""
    return {
        "schema": SCHEMA,
        "simulated": True,
        "command": list(profile.command),
        "machine": options.machine.name,
        "cpus": answer.cpus,
        "threads": list(answer.threads),
        "recorded": {
            "threads": answer.load.workers,
            "sections_per_s": answer.rate,
            "lock": profile.lock,
        },
        "speed": {**answer.pace.as_json(), "kernel_share": answer.kernel_share},
        "reference": answer.reference,
        "baseline": answer.baseline and answer.baseline.as_json(),
        "saturated": _saturated(answer, answer.saturated),
        "best": {
            "lock": answer.best,
            "over_reference": answer.advantage and answer.advantage.as_json(),
            "is_better": answer.is_better,
        },
        "throughput": [
            {"lock": curve.lock, "threads": n, **one.as_json()}
            for curve in answer.curves
            for n, one in curve.points.items()
        ],
        "busy": [
            {"site": answer.load.sites[at].name, "threads": n, **one.as_json()}
            for n, ranges in answer.busy.items()
            for at, one in enumerate(ranges)
        ],
        "changes": [
            {
                "site": gain.change.name,
                "change": gain.change.words,
                "lock": gain.lock,
                "then_saturated": gain.limit,
                "then": _saturated(answer, gain.then),
                "threads": n,
                **one.as_json(),
            }
            for gain in answer.gains
            for n, one in gain.points.items()
        ],
        "load": _load(answer),
        "simulations": answer.simulations,
        "doubts": list(doubts),
    }


def _saturated(answer: Answer, found: Saturation | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "site": answer.load.sites[found.site].name,
        "threads": found.threads,
        "low": found.low,
        "high": found.high,
        "busy": found.busy,
        "waiting": found.waiting,
        "agreeing": found.agreeing,
    }


def _load(answer: Answer) -> dict[str, Any]:
    load = answer.load
    return {
        "sites": [
            {
                "site": site.name,
                "kind": "rwlock" if site.rwlock else "mutex",
                "locks": site.locks,
                "each_worker": site.each_worker,
                "hold_ns": site.hold_ns,
                "inside": [
                    {"site": load.sites[at].name, "times": times}
                    for at, times in site.inner
                ],
            }
            for site in load.sites
        ],
        "roles": [
            {
                "name": role.name,
                "threads": role.recorded,
                "scales": role.scales,
                "between_ns": role.gap_ns,
                "kernel_ns": role.kernel_ns,
                "waiting_ns": role.idle_ns,
                "visits": [
                    {"site": load.sites[at].name, "share": share}
                    for at, share in role.visits
                ],
            }
            for role in load.roles
        ],
    }
