# SPDX-License-Identifier: MIT
"""Threads in the background: they sleep for most of their life by themselves."""

from __future__ import annotations

from collections.abc import Mapping

from hasp.profile.diagnosis.causes.limits import MOST
from hasp.profile.diagnosis.cpu_time import is_stale
from hasp.profile.model.profile import Profile


def sleepers(profile: Profile, active_ns: Mapping[int, float]) -> frozenset[int]:
    """Return the numbers of the threads whose waits delay no work.

    `active_ns` is the time in which each thread ran, waited for locks or held one. If
    all threads sleep for most of their life, they are the ones that work: then none is
    returned. Nor is any if the record lacks waits, or the end of the CPU times.
    """
    if profile.mode != "full" or is_stale(profile):
        return frozenset()
    idle = set()
    for thread in profile.threads:
        end = thread.ended_ns or profile.duration_ns
        if active_ns[thread.number] < MOST * (end - thread.began_ns):
            idle.add(thread.number)
    return frozenset(idle) if len(idle) < len(profile.threads) else frozenset()


def changes_at_most(acquisitions: list[int]) -> int:
    """Return the largest number of owner changes that these counts of threads allow.

    Each change is to or from a thread other than the most frequent one.
    """
    return 2 * (sum(acquisitions) - max(acquisitions, default=0))
