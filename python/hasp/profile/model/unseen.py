# SPDX-License-Identifier: MIT
"""Waits that look like holds: another thread was faster after a lock was seen free.

The recorder's sampler detects them by reading the owner of the mutex
(src/profiler/sample/sample_holds.h).
"""

from __future__ import annotations

import numpy as np

from hasp.profile.trace.format import HELD


def unseen_wait(record: np.void) -> int:
    """Return the lock that a thread waits for but has published as held, or 0."""
    unseen, depth = int(record["unseen_for"]), int(record["depth"])
    waits = unseen and not record["waiting_for"] and 0 < depth <= HELD
    return unseen if waits and int(record["held"][depth - 1]) == unseen else 0
