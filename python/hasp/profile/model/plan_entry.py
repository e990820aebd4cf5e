# SPDX-License-Identifier: MIT
"""The entry of a plan that matches the mutexes of a recorded site."""

from __future__ import annotations

from hasp.locks.kinds import MUTEX
from hasp.locks.site_plan.model import Entry, Module
from hasp.profile.model.profile import Origin, Spot


def entry_of(site: str, lock: str, origin: Origin, kind: str = MUTEX.name) -> Entry:
    """Return the plan entry that gives the objects of this origin the algorithm `lock`.

    It identifies a global object by its address, others by the stack that created them.
    """
    if origin.address:
        spot = origin.address
        return Entry.of_global(site, lock, _module(spot), spot.offset, kind)
    frames = [(_module(spot), spot.offset) for spot in origin.frames]
    return Entry.created_at(site, lock, frames, kind)


def _module(spot: Spot) -> Module:
    return Module(spot.module, spot.build_id)
