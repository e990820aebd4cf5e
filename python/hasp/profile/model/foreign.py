# SPDX-License-Identifier: MIT
"""Threads that block in futexes that are unknown to the recorder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ForeignWaits:
    """Samples of all threads, at 10 Hz, or at up to 100 Hz if there are few threads.

    Waits for recorded locks, condition variables and barriers, and joins of threads are
    not foreign. A foreign futex may be a lock of a runtime, a semaphore, or a thread
    without work.
    """

    samples: int  # threads inspected, summed over all samples
    blocked: int  # of them, blocked in a foreign futex
    # Of `blocked`, in threads that had run since they were last inspected. The others
    # have been blocked since then: mostly threads without work.
    brief: int
    modules: Mapping[str, float]  # file name -> share of `blocked`; "" if unknown

    @property
    def share(self) -> float | None:
        """Return the share of thread time in foreign futexes; None without samples."""
        return self.blocked / self.samples if self.samples else None

    @property
    def brief_share(self) -> float | None:
        """Return the share of thread time in brief waits; None without samples."""
        return self.brief / self.samples if self.samples else None
