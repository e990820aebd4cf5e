# SPDX-License-Identifier: MIT
"""Waits that look like holds: another thread was quicker than one that said it locks.

The recorder's sampler finds them by asking the mutex who has it
(src/profiler/sample/sample_holds.h).
"""

from __future__ import annotations

import numpy as np

from hasp.profile.trace.format import HELD


def unseen_wait(record: np.void) -> int:
    """The lock that a thread waits for, though it says that it holds it; or 0."""
    unseen, depth = int(record["unseen_for"]), int(record["depth"])
    waits = unseen and not record["waiting_for"] and 0 < depth <= HELD
    return unseen if waits and int(record["held"][depth - 1]) == unseen else 0
