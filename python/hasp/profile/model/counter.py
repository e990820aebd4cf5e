# SPDX-License-Identifier: MIT
"""What a trace counts in critical sections: cache misses, or why it does not."""

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
NO_COUNTER = "the processor offers no such counter; virtual machines rarely have one"
FORBIDDEN = (
    "the kernel does not allow it: kernel.perf_event_paranoid is above 2, or a "
    "container's filter forbids perf events"
)
WHY_NOT = {
    errno.ENOENT: NO_COUNTER,
    errno.ENODEV: NO_COUNTER,
    errno.EOPNOTSUPP: NO_COUNTER,
    errno.EPERM: FORBIDDEN,
    errno.EACCES: FORBIDDEN,
    errno.ENOSYS: "this kernel has no perf events",
    errno.EMFILE: "the program may open too few files",
    errno.ECANCELED: "it was not asked for",
}
LARGEST_ERROR = 4095  # of the kernel; what is larger is damage
NOT_SAID = "recorded by a Hasp that did not count them"


def counted(header: np.void) -> str | None:
    """What is counted."""
    try:
        return NAMES[Counter(header["counter"])]
    except ValueError:
        return None


def absent(header: np.void) -> str | None:
    """Why nothing is counted."""
    if counted(header):
        return None
    error = int(header["counter_error"])
    return words(error) if error else NOT_SAID


def words(error: int) -> str:
    """Why perf events do not open, by the kernel's error."""
    return WHY_NOT.get(error) or os.strerror(min(error, LARGEST_ERROR))
