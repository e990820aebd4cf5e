# SPDX-License-Identifier: MIT
"""Recognise glibc's locks by the futex calls that wait for them.

A thread that waits for a mutex of glibc calls FUTEX_WAIT on the first word of
pthread_mutex_t with the value 2; the word at offset 8 is the thread id of the owner.
The locks inside of glibc, such as those of malloc, wait in the same way but have no
owner. Condition variables, rwlocks, semaphores, barriers and joins use
FUTEX_WAIT_BITSET; they cannot be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hasp.profile.attach.process import Call

COMMAND = 0x7F  # of the operation, without its flags
WAIT, LOCK_PI, WAIT_BITSET, LOCK_PI2 = 0, 6, 9, 13
CONTENDED = 2  # value of a mutex with waiters
OWNER = 8  # offset of __owner in pthread_mutex_t
KIND = 16  # of __kind
KINDS = 0x7FF  # bits of known kinds
HEAD = 24  # bytes of a mutex to read


class Waits(Enum):
    """The kinds of objects that a futex call waits for."""

    MUTEX = "mutex"
    OTHER = "other"  # a condition variable, rwlock, semaphore, barrier or join


@dataclass(frozen=True)
class Wait:
    """A futex call that waits."""

    address: int
    waits: Waits


def wait_of(call: Call, futex: int) -> Wait | None:
    """Return what a system call waits for; None if it is not a waiting futex call."""
    if call.number != futex:
        return None
    address, operation, value = call.arguments[:3]
    command = operation & COMMAND
    if command in (LOCK_PI, LOCK_PI2):
        return Wait(address, Waits.MUTEX)
    if command in (WAIT, WAIT_BITSET):
        is_mutex = value & 0xFFFFFFFF == CONTENDED
        return Wait(address, Waits.MUTEX if is_mutex else Waits.OTHER)
    return None


def owner_of(head: bytes) -> int:
    """Return the owner in the first bytes of a mutex; 0 if it has none."""
    if len(head) < HEAD:
        return 0
    kind = int.from_bytes(head[KIND : KIND + 4], "little")
    if kind & ~KINDS:
        return 0
    return int.from_bytes(head[OWNER : OWNER + 4], "little")
