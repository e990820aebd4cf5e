# SPDX-License-Identifier: MIT
"""Locks that a thread holds on purpose, to keep other threads idle.

Redis's main thread holds a mutex of each I/O thread while there is no work for them.
Threads that wait so rarely and for so long are idle, as if they waited for a condition.
"""

from __future__ import annotations

from hasp.profile.diagnosis.causes import pending
from hasp.profile.diagnosis.causes.limits import MOST, PART
from hasp.profile.model.holding import HolderState
from hasp.profile.model.profile import Profile, Site

RARE = 1.0  # waits per second of each waiting thread
LONG = 1e9  # ns
# A holder in these states wants to go on: it has no CPU, or waits for another thread,
# which may want the lock.
STOPPED = (HolderState.READY, HolderState.LOCK, HolderState.EVENT, HolderState.FUTEX)
WHOLE = 0.75  # of the run, in one wait


def is_gate(site: Site, profile: Profile) -> bool:
    """Return true if threads wait rarely, and each time for much of the run.

    Several recorded holds may add up to a long wait. If the holder sleeps for longer
    than all of them, it was a single one, and a part of the run suffices, or a second.
    """
    use = site.total
    seconds = profile.duration_ns / 1e9
    if use is None or not 0 < use.contended < RARE * seconds * max(waiting(site), 1):
        return False
    if site.holding and site.holding.share(*STOPPED) > MOST:
        return False
    least = WHOLE * profile.duration_ns
    if pending.asleep_ns(site, profile):
        least = min(PART * profile.duration_ns, LONG)
    return (use.wait.mean_ns or 0.0) >= least


def waiting(site: Site) -> int:
    """Return the number of threads that waited."""
    return sum(
        any(stats.contended for stats in by_operation.values())
        for by_operation in site.threads.values()
    )
