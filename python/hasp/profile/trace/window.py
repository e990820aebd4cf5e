# SPDX-License-Identifier: MIT
"""Cut a window out of a recording: the operations between two copies of its trace.

Nearly everything in a trace is a sum since the recording began, so the window is the
later copy minus the earlier one. Records never move within the file, but a record may
be reused; sums are therefore matched by what they belong to. The result is a trace with
the same layout, whose header marks it as a window.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hasp.base.files import write_file
from hasp.profile.trace import delegation_sums, format
from hasp.profile.trace.format import ChunkKind, Records
from hasp.profile.trace.reader import Trace

WITH_LARGEST = ("wait", "hold", "handover")
HISTOGRAMS = (*WITH_LARGEST, "between")
ELISION = "elision"  # a struct of sums
# For each kind: the fields that identify a record, and those that are not sums.
KEYS: dict[ChunkKind, tuple[str, ...]] = {
    ChunkKind.LOCK_COUNTS: ("lock", "site"),
    ChunkKind.SITE_STATS: ("thread", "site", "operation", "lock_kind"),
    ChunkKind.STACK_PROFILE: ("lock", "stack"),
    ChunkKind.HOLD_STATES: ("lock", "state", "call", "awaits", "stack"),
    ChunkKind.CONTENTION: ("lock",),
    ChunkKind.FOREIGN_WAITS: ("stack",),
    ChunkKind.EXECUTED: ("address", "lock", "stack"),
    ChunkKind.BETWEEN: ("thread",),
}
OTHERS = ("address", "private", "reserved", "longest_failing_run")
THREAD_SUMS = (
    *("section_ticks", "wait_ticks", "idle_ticks", "counted", "timed", "stacks"),
    *("cpu_ns", "user_ns", "system_ns", "voluntary", "involuntary"),
    *("minor_faults", "major_faults"),
    *("migrations", "preempted_holds", "long_holds", "overhead_ticks"),
)
LOCK_SUMS = (
    *("acquisitions", "contended", "wait_ticks", "hold_ticks"),
    *("owner_changes", "node_changes"),
)
PROCESS_SUMS = (
    *("cpu_ns", "system_ns", "minor_faults", "major_faults"),
    *("voluntary", "involuntary", "locks_created", "locks_destroyed"),
)
HEADER_SUMS = (
    *("samples", "sampler_ns", "tasks_inspected"),
    *("locks_created", "locks_destroyed"),
)


def write_window(before: Path | None, after: Path, destination: Path) -> None:
    """Write the trace of what happened between the copies `before` and `after`.

    Without `before`, the process began within the window. Raises HaspError if a copy
    cannot be read or the result cannot be written.
    """
    cut = _Window(Trace(before) if before else None, Trace(after))
    write_file(destination, bytes(cut.content()))


class _Window:
    def __init__(self, before: Trace | None, after: Trace) -> None:
        self._before = before
        self._after = after
        self._bytes = bytearray(after.path.read_bytes())
        start = (before.header["latest"] if before else after.header["begin"])["ticks"]
        self._begin = int(start)

    def content(self) -> bytearray:
        self._header()
        if self._before is None:
            return self._bytes
        self._threads(self._before)
        self._locks(self._before)
        for kind, key in KEYS.items():
            self._sums(self._before, kind, key)
        self._delegation(self._before)
        self._process_samples(self._before)
        self._recent(ChunkKind.WAITER_SAMPLES)
        return self._bytes

    def _header(self) -> None:
        header = np.frombuffer(self._bytes, format.HEADER, 1)
        header["windowed"] = 1
        if self._before is None:
            return
        old = self._before.header
        passed = int(old["latest"]["monotonic_ns"]) - int(old["begin"]["monotonic_ns"])
        header["skipped_ns"] = max(passed, 0)
        header["begin"] = old["latest"]
        _subtract(header, old, HEADER_SUMS)

    def _records(self, kind: ChunkKind) -> Iterable[tuple[int, Records]]:
        """Yield each chunk's number of its first record, and its writable records."""
        known = format.RECORDS[kind]
        for chunk in self._after.each(kind):
            start = chunk.number * self._after.chunk_bytes
            head = np.frombuffer(self._bytes, format.CHUNK_HEAD, 1, start)
            if int(head["record_bytes"][0]) != known.itemsize:
                continue  # of an older version
            start += format.CHUNK_HEAD.itemsize
            count = len(chunk.records)
            yield chunk.first, np.frombuffer(self._bytes, known, count, start)

    def _threads(self, before: Trace) -> None:
        old = before.numbered(ChunkKind.THREADS)
        for first, records in self._records(ChunkKind.THREADS):
            known = old[first : first + len(records)]
            mine = records[: len(known)]
            _subtract(mine, known, THREAD_SUMS)
            # Of threads that shared a record, the lifetimes of the earlier ones count
            # from the beginning of the window.
            grown = mine["earlier_ticks"] - known["earlier_ticks"]
            replaced = mine["reused"] != known["reused"]
            passed = np.where(
                replaced & (known["ended"] == 0) & (known["began"] > 0),
                self._begin - np.minimum(known["began"], self._begin),
                0,
            ).astype(np.uint64)
            mine["earlier_ticks"] = grown - np.minimum(passed, grown)
            mine["reused"] -= np.minimum(known["reused"], mine["reused"])
            begun = mine["began"] > 0
            mine["began"][begun] = np.maximum(mine["began"][begun], self._begin)
            gone = (mine["ended"] > 0) & (mine["ended"] < self._begin)
            mine[gone] = np.zeros(1, format.THREAD)

    def _locks(self, before: Trace) -> None:
        old = before.numbered(ChunkKind.LOCKS)
        for first, records in self._records(ChunkKind.LOCKS):
            known = old[first : first + len(records)]
            _subtract(records[: len(known)], known, LOCK_SUMS)

    def _delegation(self, before: Trace) -> None:
        """Subtract the earlier sums of delegates and servers."""
        for kind in delegation_sums.SUMS:
            old = before.numbered(kind)
            for first, records in self._records(kind):
                delegation_sums.subtract(kind, records, old[first:])

    def _sums(self, before: Trace, kind: ChunkKind, key: tuple[str, ...]) -> None:
        """Subtract the earlier sums of each key from the records that have it."""
        old = _summed(before.all(kind), key)
        for _, records in self._records(kind):
            for record in records:
                known = old.get(_key(record, key))
                if known is not None:
                    _take(record, known)
            if kind is ChunkKind.SITE_STATS:
                _limit_largest(records)

    def _process_samples(self, before: Trace) -> None:
        old = before.all(ChunkKind.PROCESS_SAMPLES)
        self._recent(ChunkKind.PROCESS_SAMPLES)
        if not len(old):
            return
        last = old[np.argmax(old["ticks"])]
        for _, records in self._records(ChunkKind.PROCESS_SAMPLES):
            for name in PROCESS_SUMS:
                records[name] -= np.minimum(last[name], records[name])

    def _recent(self, kind: ChunkKind) -> None:
        """Keep the records of the window, at the front of their chunk."""
        known = format.RECORDS[kind]
        for chunk in self._after.each(kind):
            start = chunk.number * self._after.chunk_bytes
            head = np.frombuffer(self._bytes, format.CHUNK_HEAD, 1, start)
            if int(head["record_bytes"][0]) != known.itemsize:
                continue
            start += format.CHUNK_HEAD.itemsize
            # `used` may have become smaller by an earlier call.
            records = np.frombuffer(self._bytes, known, int(head["used"][0]), start)
            kept = records[records["ticks"] >= self._begin]
            records[: len(kept)] = kept
            head["used"] = len(kept)


def _subtract(records: Any, old: Any, names: Iterable[str]) -> None:
    for name in names:
        records[name] -= np.minimum(old[name], records[name])


def _key(record: np.void, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(record[name]) for name in names)


def _summed(records: Records, key: tuple[str, ...]) -> dict[tuple[int, ...], np.void]:
    """Return the sums of the records of each key."""
    found: dict[tuple[int, ...], np.void] = {}
    for record in records:
        mine = _key(record, key)
        if mine not in found:
            found[mine] = record.copy()
            continue
        for name, column in _sums_of(record):
            found[mine][name] += column
        for name in HISTOGRAMS:
            if name in (record.dtype.names or ()):
                found[mine][name]["bucket"] += record[name]["bucket"]
        for name in _elision_of(record):
            found[mine][ELISION][name] += record[ELISION][name]
    return found


def _sums_of(record: np.void) -> Iterable[tuple[str, Any]]:
    names = record.dtype.names or ()
    kind = next(kind for kind, known in format.RECORDS.items() if known == record.dtype)
    skipped = (*KEYS[kind], *OTHERS, *HISTOGRAMS, ELISION)
    for name in names:
        if name not in skipped and not name.endswith("_most"):
            yield name, record[name]


def _elision_of(record: np.void) -> Iterable[str]:
    return format.ELISION.names or () if ELISION in (record.dtype.names or ()) else ()


def _take(record: np.void, known: np.void) -> None:
    """Subtract the smaller of each pair of sums from both."""
    for name, value in _sums_of(record):
        taken = min(int(value), int(known[name]))
        record[name] -= taken
        known[name] -= taken
    for name in HISTOGRAMS:
        if name in (record.dtype.names or ()):
            mine: NDArray[np.uint32] = record[name]["bucket"]
            taken_all = np.minimum(mine, known[name]["bucket"])
            mine -= taken_all
            known[name]["bucket"] -= taken_all
    for name in _elision_of(record):
        both = np.minimum(record[ELISION][name], known[ELISION][name])
        record[ELISION][name] -= both
        known[ELISION][name] -= both


def _limit_largest(records: Records) -> None:
    """Limit the largest durations by the upper edge of the last bucket in use."""
    edges = np.array(format.bucket_edges()[1:], np.uint64)
    for name in WITH_LARGEST:
        counts = records[name]["bucket"]
        last = counts.shape[1] - 1 - np.argmax(counts[:, ::-1] > 0, axis=1)
        most = np.where(counts.any(axis=1), edges[last], 0)
        # The last bucket has no upper edge.
        most = np.where(last == counts.shape[1] - 1, records[f"{name}_most"], most)
        records[f"{name}_most"] = np.minimum(records[f"{name}_most"], most)
    idle = records["trylock_failures"] == 0
    records["longest_failing_run"][idle] = 0
