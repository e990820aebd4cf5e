# SPDX-License-Identifier: MIT
"""Synthetic traces, as the recorder would write them.

One tick is one nanosecond unless a test sets the header's clocks otherwise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hasp.profile.trace import format
from hasp.profile.trace.format import RECORDS, ChunkKind, Records

NUMBERED = (ChunkKind.THREADS, ChunkKind.LOCKS, ChunkKind.STACKS, ChunkKind.MODULES)
SECOND = 1_000_000_000
BEGIN = 1_000_000  # ticks


class Synthetic:
    """Collects records and writes a trace."""

    def __init__(self, duration: int = SECOND) -> None:
        self.header = np.zeros(1, format.HEADER)[0]
        self.records: dict[ChunkKind, list[Records]] = {kind: [] for kind in RECORDS}
        self.set_header(
            magic=format.MAGIC,
            version=format.VERSION,
            byte_order=format.BYTE_ORDER,
            chunk_bytes=format.CHUNK,
            bytes_limit=1 << 28,
            session=7,
            pid=4242,
            cpus=4,
            nodes=1,
            mode=format.Mode.FULL,
            sampler_hz=100,
            ended=format.End.EXITED,
            samples=100 * duration // SECOND,
            counted_cost_ps=4000,
            timed_cost_ps=50_000,
            stack_cost_ps=1_000_000,
            lock=b"glibc",
            command=np.void(b"./server\0--fast\0".ljust(4096, b"\0")),
            executable=b"/usr/bin/server",
        )
        for clock, ticks in (("begin", BEGIN), ("latest", BEGIN + duration)):
            self.header[clock]["ticks"] = ticks
            self.header[clock]["monotonic_ns"] = 5_000_000 + ticks
            self.header[clock]["wall_ns"] = 1_700_000_000 * SECOND + ticks - BEGIN

    def set_header(self, **fields: Any) -> None:
        for name, value in fields.items():
            self.header[name] = value

    def add(self, chunk: ChunkKind, /, **fields: Any) -> int:
        """Add one record; return its number."""
        record = np.zeros(1, RECORDS[chunk])
        for name, value in fields.items():
            if isinstance(value, (list, tuple)):
                record[0][name][: len(value)] = value
            else:
                record[0][name] = value
        self.records[chunk].append(record)
        return sum(map(len, self.records[chunk]))

    def add_many(self, chunk: ChunkKind, number: int, /, **columns: Any) -> None:
        """Add many records; each column is an array or one value for all."""
        records = np.zeros(number, RECORDS[chunk])
        for name, column in columns.items():
            records[name] = column
        self.records[chunk].append(records)

    def thread(self, **fields: Any) -> int:
        fields = {"began": BEGIN, "ended": BEGIN + SECOND, "name": b"worker", **fields}
        return self.add(ChunkKind.THREADS, **fields)

    def stack(self, *addresses: int) -> int:
        return self.add(ChunkKind.STACKS, depth=len(addresses), frame=addresses)

    def lock(self, **fields: Any) -> int:
        fields = {"kind": format.LockKind.MUTEX, "creations": 1, "bytes": 40, **fields}
        return self.add(ChunkKind.LOCKS, born=BEGIN, **fields)

    def use(self, histograms: dict[str, list[int]] | None = None, **fields: Any) -> int:
        """Add site statistics.

        `histograms` are durations by name (wait, hold, handover).
        """
        kinds = {
            "operation": format.Operation.LOCK,
            "lock_kind": format.LockKind.MUTEX,
        }
        number = self.add(ChunkKind.SITE_STATS, **{**kinds, **fields})
        for name, durations in (histograms or {}).items():
            for ticks in durations:
                bucket = format.bucket_of(ticks)
                self.records[ChunkKind.SITE_STATS][-1][0][name]["bucket"][bucket] += 1
        return number

    def write(self, path: Path) -> Path:
        chunks: list[bytes] = []
        for kind, parts in self.records.items():
            records = np.concatenate([np.zeros(0, RECORDS[kind]), *parts])
            room = (format.CHUNK - format.CHUNK_HEAD.itemsize) // records.itemsize
            for begin in range(0, len(records), room):
                part = records[begin : begin + room]
                head = np.zeros(1, format.CHUNK_HEAD)
                head["kind"], head["record_bytes"] = kind, part.itemsize
                head["first"] = begin + 1 if kind in NUMBERED else 0
                head["used"] = len(part)
                body = head.tobytes() + part.tobytes()
                chunks.append(body.ljust(format.CHUNK, b"\0"))
        self.header["chunks"] = 1 + len(chunks)
        first = self.header.tobytes().ljust(format.CHUNK, b"\0")
        path.write_bytes(first + b"".join(chunks))
        return path
