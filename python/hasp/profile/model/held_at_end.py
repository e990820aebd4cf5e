# SPDX-License-Identifier: MIT
"""Locks that were held when the process or their thread ended."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.profile.symbols.frame import Stack


@dataclass(frozen=True)
class HeldAtEnd:
    """A lock that was held when the process or its holder ended."""

    lock: int  # number
    thread: int  # number of the holder
    since_ns: int | None  # since the start of the profile; None if not known
    duration_ns: int | None  # of the hold until the end of the trace
    waiters: int  # threads that waited for the lock at the end
    thread_ended: bool  # the holder's thread ended without a release
    stack: Stack  # of the acquisition; () if it was not recorded
