# SPDX-License-Identifier: MIT
"""Holds that the record lacks: begun before it, or not over at its end.

The samples of the holders contain them. Their sum is longer than all recorded holds.
"""

from __future__ import annotations

from hasp.profile.diagnosis.causes.limits import FEW_SAMPLES, MOST, PART
from hasp.profile.model.holding import HolderState, StateShare
from hasp.profile.model.naming import is_library, without_arguments
from hasp.profile.model.profile import Profile, Site

AWAKE = (HolderState.RUNNING, HolderState.READY, HolderState.LOCK)
LONG = 1e9  # ns; a wait that is as long suggests a hold as long
START = "_start"  # the C runtime's part of a program


def asleep_ns(site: Site, profile: Profile) -> float:
    """Return the time in ns that holders slept if recorded holds are shorter, else 0.

    They are shorter if they last less than half of the sampled time.
    """
    holding = site.holding
    if holding is None or holding.samples < FEW_SAMPLES:
        return 0.0
    slept = sum(one.samples for one in holding.states if one.state not in AWAKE)
    slept_ns = slept * profile.sample_ns
    use = site.total
    held_ns = use.hold.total_ns if use else 0
    # Such a hold makes others wait as long; the sum of many short ones is an estimate.
    longest_ns = use.wait.max_ns if use else 0
    locks = sum(1 for lock in site.locks if lock.wait_ns)
    whole = longest_ns * max(locks, 1) >= min(PART * slept_ns, LONG)
    return slept_ns if whole and held_ns < MOST * slept_ns else 0.0


def each_ns(site: Site, profile: Profile) -> float:
    """Return the mean time in ns of such a hold, one for each lock; 0 without any."""
    locks = sum(1 for lock in site.locks if lock.wait_ns)
    return asleep_ns(site, profile) / max(locks, 1)


def holder(site: Site) -> str:
    """Return the program's outermost function where holders slept; "" if unknown."""
    holding = site.holding
    states = [one for one in holding.states if one.stack] if holding else []
    asleep: StateShare | None = max(states, key=lambda one: one.samples, default=None)
    if asleep is None:
        return ""
    named = [
        without_arguments(frame.function)
        for frame in asleep.stack
        if frame.function and frame.function != START and not is_library(frame)
    ]
    return named[-1] if named else ""
