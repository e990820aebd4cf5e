# SPDX-License-Identifier: MIT
"""The sampler's results as JSON: holders, fairness, foreign futexes, held locks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hasp.profile.model.holding import HolderFunction, Holding
from hasp.profile.model.profile import Profile, Site
from hasp.profile.symbols.frame import Stack

MOST_FUNCTIONS = 10  # of a site


def samples(profile: Profile) -> dict[str, Any]:
    """Return what was sampled of the whole program, and why something was not."""
    foreign = profile.foreign
    return {
        "runnable": profile.runnable,
        "foreign_waits": {
            **asdict(foreign),
            "share": foreign.share,
            "brief_share": foreign.brief_share,
        }
        if foreign
        else None,
        "runtimes": [asdict(one) for one in profile.unseen_runtimes],
        "held_at_end": [
            {**vars(one), "stack": _stack(one.stack)} for one in profile.held_at_end
        ],
        "absent": {
            "holding": profile.holding_absent,
            "functions": profile.functions_absent,
            "foreign_waits": profile.foreign_absent,
            "data_lines": profile.data_lines_absent,
        },
    }


def site_samples(site: Site) -> dict[str, Any]:
    """Return what was sampled of the locks of one site."""
    return {
        "holding": _holding(site.holding),
        "long_holding": _holding(site.long_holding),
        "holders": [_function(one) for one in site.holders[:MOST_FUNCTIONS]],
        "fairness": asdict(site.fairness) if site.fairness else None,
        "readers_writers": asdict(site.readers_writers)
        if site.readers_writers
        else None,
        "stripes": asdict(site.stripes) if site.stripes else None,
        "shared_lines": [asdict(one) for one in site.shared_lines],
    }


def _holding(holding: Holding | None) -> dict[str, Any] | None:
    if holding is None:
        return None
    return {
        **vars(holding),
        "states": [
            {**vars(one), "state": one.state.value, "stack": _stack(one.stack)}
            for one in holding.states
        ],
        "functions": [asdict(one) for one in holding.functions[:MOST_FUNCTIONS]],
    }


def _function(one: HolderFunction) -> dict[str, Any]:
    return {**vars(one), "mean_ns": one.mean_ns, "stack": _stack(one.stack)}


def _stack(stack: Stack) -> list[dict[str, Any]]:
    return [dict(vars(frame)) for frame in stack]
