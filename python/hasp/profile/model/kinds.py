# SPDX-License-Identifier: MIT
"""The kinds of recorded locks, and the operations on them."""

from __future__ import annotations

from enum import Enum


class Kind(str, Enum):
    """The kinds of locks."""

    MUTEX = "mutex"
    RWLOCK = "rwlock"
    SPINLOCK = "spinlock"
    CONDITION = "condvar"
    BARRIER = "barrier"


class Operation(str, Enum):
    """Operations on locks. Each has its own counts and distributions."""

    LOCK = "lock"
    READ = "read"
    WRITE = "write"
    WAIT = "wait"  # on a condition variable
    BARRIER = "barrier"
    RELOCK = "relock"  # of a mutex, at the end of a wait on a condition variable
