# SPDX-License-Identifier: MIT
"""How threads share each lock, and how the load is spread over the locks of a site."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hasp.profile.model.fairness import Fairness, Stripes
from hasp.profile.model.lock_sums import LockSums, Places
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind, Mode, Records
from hasp.profile.trace.reader import Chunk, Trace

SLOT = format.LOCK_COUNT.itemsize
SLOTS = format.TABLE // SLOT  # of a small table
THREADS_MOST = np.iinfo(np.uint32).max


def owners(chunk: Chunk) -> NDArray[np.uint32]:
    """Return the thread of each slot of a chunk of lock counts; 0 if unknown."""
    slots = np.full(len(chunk.records), chunk.writer, np.uint32)
    if chunk.writer or not 0 < chunk.owner <= THREADS_MOST:
        return slots  # the number of no thread is damage
    # The header takes the place of the first slot.
    slots[: SLOTS - 1] = chunk.owner
    for begin in range(SLOTS - 1, len(slots), SLOTS):
        first = chunk.records[begin]
        owner = 0 if first["address"] or first["lock"] else int(first["site"])
        slots[begin : begin + SLOTS] = owner
    return slots


class ThreadShares:
    """The acquisitions and holds of each lock by each thread."""

    def __init__(self, trace: Trace, sums: LockSums) -> None:
        self._sums = sums
        self._full = trace.header["mode"] == Mode.FULL
        self._old = int(trace.header["version"]) < 2
        length = len(sums.records)
        tables: list[Records] = [np.zeros(0, format.LOCK_COUNT)]
        threads = [np.zeros(0, np.uint32)]
        for chunk in trace.each(ChunkKind.LOCK_COUNTS):
            owner, lock = owners(chunk), chunk.records["lock"]
            known = (owner != 0) & (lock != 0) & (lock < length)
            tables.append(chunk.records[known])
            threads.append(owner[known])
        table, thread = np.concatenate(tables), np.concatenate(threads)
        order = np.argsort(table["lock"], kind="stable")
        self.table, self.threads = table[order], thread[order]
        self._overtaken = {
            int(record["lock"]): (int(record["overtaken"]), int(record["retaken"]))
            for record in trace.all(ChunkKind.CONTENTION)
        }

    def of(self, lock: int) -> tuple[NDArray[np.uint32], Records]:
        """Return the threads that used a lock, and their records."""
        begin, end = np.searchsorted(self.table["lock"], [lock, lock + 1])
        return self.threads[begin:end], self.table[begin:end]

    def fairness(self, lock: int) -> Fairness | None:
        """Return the shares of one lock; None if no thread's part is known."""
        threads, table = self.of(lock)
        if self._old or not len(table):
            return None
        numbers, inverse = np.unique(threads, return_inverse=True)
        parts: dict[str, NDArray[np.generic]] = {
            name: np.bincount(inverse, table[name].astype(float), len(numbers))
            for name in ("acquisitions", "hold_ticks")
        }
        top = int(np.argmax(parts["hold_ticks"]))
        overtaken, retaken = self._overtaken.get(lock, (0, 0))
        return Fairness(
            lock=lock,
            threads=len(numbers),
            top_thread=int(numbers[top]),
            top_acquisitions=self._share(parts, lock, "acquisitions"),
            top_hold=self._share(parts, lock, "hold_ticks"),
            overtaken=overtaken if self._full else None,
            retaken=retaken if self._full else None,
        )

    def _share(
        self, parts: dict[str, NDArray[np.generic]], lock: int, name: str
    ) -> float | None:
        whole = max(float(self._sums.sums[name][lock]), float(parts[name].sum()))
        return float(parts[name].max()) / whole if whole else None

    def stripes(self, locks: Places) -> Stripes | None:
        """Return the distribution over some locks; None unless several were used."""
        acquisitions = self._sums.sums["acquisitions"][locks]
        waits = self._sums.sums["wait_ticks"][locks]
        used = int((acquisitions > 0).sum())
        if used < 2:
            return None
        hottest, most_waited = int(np.argmax(acquisitions)), int(np.argmax(waits))
        waited = float(waits.sum())
        return Stripes(
            locks=used,
            hottest=int(locks[hottest]),
            hottest_acquisitions=float(acquisitions[hottest] / acquisitions.sum()),
            most_waited=int(locks[most_waited]),
            hottest_wait=float(waits[most_waited]) / waited if waited else None,
        )
