# SPDX-License-Identifier: MIT
"""The hardware event that a trace counts in critical sections, or why there is none."""

from __future__ import annotations

import errno
import os

import numpy as np

from hasp.profile.trace.format import Counter

NAMES = {
    Counter.CACHE_MISSES: "cache misses",
    Counter.LAST_LEVEL_MISSES: "last-level cache misses",
    Counter.PAGE_FAULTS: "page faults",
}
NO_COUNTER = "the processor has no such counter; virtual machines rarely do"
FORBIDDEN = (
    "the kernel forbids it: kernel.perf_event_paranoid is above 2, or the "
    "container's seccomp filter blocks perf events"
)
WHY_NOT = {
    errno.ENOENT: NO_COUNTER,
    errno.ENODEV: NO_COUNTER,
    errno.EOPNOTSUPP: NO_COUNTER,
    errno.EPERM: FORBIDDEN,
    errno.EACCES: FORBIDDEN,
    errno.ENOSYS: "this kernel has no perf events",
    errno.EMFILE: "the program has too few file descriptors",
    errno.ECANCELED: "it was not requested",
}
LARGEST_ERROR = 4095  # largest errno of the kernel; anything larger is damage
NOT_SAID = "recorded by a version of Hasp that did not count it"


def counted(header: np.void) -> str | None:
    """Return the name of the counted event; None if there is none."""
    try:
        return NAMES[Counter(header["counter"])]
    except ValueError:
        return None


def absent(header: np.void) -> str | None:
    """Return why no event is counted; None if one is."""
    if counted(header):
        return None
    error = int(header["counter_error"])
    return words(error) if error else NOT_SAID


def words(error: int) -> str:
    """Return why perf events cannot be opened, given the kernel's errno."""
    return WHY_NOT.get(error) or os.strerror(min(error, LARGEST_ERROR))
