# SPDX-License-Identifier: MIT
"""How a rwlock was held while readers and writers waited for it, sampled at 100 Hz.

Waits of readers and writers (number, total, longest) and their holds are in
`Site.stats[Operation.READ]` and `Site.stats[Operation.WRITE]`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadersWriters:
    """Waiting threads summed over all samples, by their mode and the holders'."""

    readers_for_readers: int  # readers waiting while other readers held it
    readers_for_writer: int
    writers_for_readers: int
    writers_for_writer: int
    unknown: int  # waiting while no holder was seen
