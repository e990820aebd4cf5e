# SPDX-License-Identifier: MIT
"""Reading a trace: a snapshot of what is complete in it, however it ended.

Nothing in the file is believed before it was compared with the file's size, so that a
damaged one costs no more than its length in memory and time. What cannot be read is
left out and told in words (`doubts`); a file of which nothing can be read is an error.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hasp.base.errors import HaspError
from hasp.base.output import escaped
from hasp.profile.trace import format
from hasp.profile.trace.format import RECORDS, ChunkKind, Records

RECORD_IT_AGAIN = "record it again with `hasp profile`, or copy it again"
WHICH_FILE = "give the file that `hasp profile` wrote, hasp.trace if not named"
SMALLEST_CHUNK, LARGEST_CHUNK = 1 << 13, 1 << 26  # bytes; the header fits in one
# The values that a recorder on Linux can write; anything else is damage.
PLAUSIBLE = {
    "chunks": (1, 1 << 26, "chunks"),
    "pid": (1, 1 << 22, "as its process id"),
    "cpus": (1, 1 << 13, "CPUs"),
    "nodes": (1, 1 << 10, "NUMA nodes"),
    "mode": (1, 2, "as its recording mode"),
    "sampler_hz": (0, 1000, "samples a second"),
    "ended": (0, 2, "as the way in which it ended"),
    "full": (0, 2, "as the reason for which it is full"),
}


class Chunk(NamedTuple):
    """The complete records of one chunk."""

    number: int  # of the chunk in the file
    first: int  # number of its first record, 0: not numbered
    records: Records


class Trace:
    """A trace as it was at one moment; reads are made when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.doubts: list[str] = []
        head, self._bytes = _open(path)
        self.header = self._header(head)
        self.chunk_bytes = int(self.header["chunk_bytes"])
        self.chunks = self._count_chunks()

    def _refusal(self, offset: int, what: str, remedy: str) -> HaspError:
        return HaspError(f"{self.path}, offset {offset}: {what}", remedy)

    def _header(self, head: bytes) -> np.void:
        found = head[:8]
        if found == bytes(len(found)):
            raise self._refusal(
                *(0, "the trace was never begun: its first bytes are zero"),
                "the program ended while it was being made; " + RECORD_IT_AGAIN,
            )
        if found != format.MAGIC:
            raise self._refusal(
                *(0, "this is not a trace of Hasp: its first bytes are others"),
                WHICH_FILE,
            )
        if len(head) < format.HEADER.itemsize:
            raise self._refusal(
                len(head), "the trace ends within its header", RECORD_IT_AGAIN
            )
        header = _record(head, format.HEADER)
        place = format.HEADER.fields
        assert place is not None
        if header["byte_order"] == int.from_bytes(
            format.BYTE_ORDER.to_bytes(4, "big"), "little"
        ):
            raise self._refusal(
                place["byte_order"][1],
                "the trace is from a machine of the other byte order",
                "read it on a machine like the one that recorded it",
            )
        if header["byte_order"] != format.BYTE_ORDER or header["version"] == 0:
            raise self._refusal(
                place["version"][1], "the trace's header is damaged", RECORD_IT_AGAIN
            )
        if header["version"] > format.VERSION:
            raise self._refusal(
                place["version"][1],
                f"the trace has format {header['version']}; this Hasp reads formats up "
                f"to {format.VERSION}",
                "read it with the Hasp that recorded it, or a newer one",
            )
        chunk = int(header["chunk_bytes"])
        if not SMALLEST_CHUNK <= chunk <= LARGEST_CHUNK or chunk & (chunk - 1):
            raise self._refusal(
                place["chunk_bytes"][1],
                f"the trace's header is damaged: chunks of {chunk} bytes",
                RECORD_IT_AGAIN,
            )
        for name, (least, most, words) in PLAUSIBLE.items():
            if not least <= header[name] <= most:
                raise self._refusal(
                    place[name][1],
                    f"the trace's header is damaged: {int(header[name]):,} {words}",
                    RECORD_IT_AGAIN,
                )
        return header

    def _count_chunks(self) -> int:
        written = int(self.header["chunks"])
        there = len(self._bytes) // self.chunk_bytes
        if written > there:
            self.doubts.append(
                f"{self.path} is cut off: it has {len(self._bytes)} of "
                f"{written * self.chunk_bytes} bytes; what is missing is not counted"
            )
        elif self.header["ended"] and self._has_records(written, there):
            self.doubts.append(
                f"the header of {self.path} is damaged: it counts {written} of {there} "
                "chunks; the others are left out"
            )
        return min(written, there)

    def _has_records(self, begin: int, end: int) -> bool:
        """Whether there are records in the chunks that the header does not count."""
        heads = (self._head(number) for number in range(begin, end))
        return any(head["kind"] in RECORDS and head["used"] for head in heads)

    @cached_property
    def _chunks(self) -> dict[ChunkKind, list[Chunk]]:
        """Every chunk by kind; damaged ones are left out."""
        found: dict[ChunkKind, list[Chunk]] = {kind: [] for kind in RECORDS}
        self._damaged: list[int] = []
        number = 1
        while number < self.chunks:
            head = self._head(number)
            span = 1 + int(head["follow"])
            kind = int(head["kind"])
            if kind not in RECORDS or number + span > self.chunks:
                if kind != ChunkKind.FREE:
                    self._damaged.append(number)
                number += 1
                continue
            records = self._records(number, span, head, RECORDS[ChunkKind(kind)])
            if records is None:
                self._damaged.append(number)
            else:
                chunk = Chunk(number, int(head["first"]), records)
                found[ChunkKind(kind)].append(chunk)
            number += span
        if self._damaged:
            self.doubts.append(
                f"{len(self._damaged)} parts of {self.path} are damaged and left out, "
                f"the first at offset {self._damaged[0] * self.chunk_bytes}"
            )
        return found

    def _head(self, number: int) -> np.void:
        begin = number * self.chunk_bytes
        end = begin + format.CHUNK_HEAD.itemsize
        return _record(self._bytes[begin:end], format.CHUNK_HEAD)

    def _records(
        self, number: int, span: int, head: np.void, known: np.dtype[np.void]
    ) -> Records | None:
        """The records of a chunk as they lie in the file; None if it is damaged."""
        step, used = int(head["record_bytes"]), int(head["used"])
        begin = number * self.chunk_bytes + format.CHUNK_HEAD.itemsize
        room = (number + span) * self.chunk_bytes - begin
        if step < known.itemsize or step % 4 or used * step > room:
            return None
        raw = np.frombuffer(self._bytes, np.uint8, used * step, begin)
        wide = raw.reshape(used, step)[:, : known.itemsize]
        if step == known.itemsize:
            return wide.reshape(-1).view(known)
        return np.ascontiguousarray(wide).reshape(-1).view(known)

    def each(self, kind: ChunkKind) -> Iterator[Chunk]:
        """The chunks of a kind in the order of the file; records as they lie there."""
        yield from self._chunks[kind]

    def all(self, kind: ChunkKind) -> Records:
        """All records of a kind, copied."""
        parts = [chunk.records for chunk in self._chunks[kind]]
        if not parts:
            return np.zeros(0, RECORDS[kind])
        return np.concatenate(parts)

    def numbered(self, kind: ChunkKind) -> Records:
        """The records of a kind by their number; 0, and those not there, are zero."""
        chunks = self._chunks[kind]
        # Numbers are given without gaps but at the end of chunks, so more than the
        # chunks have room for are damage.
        room = self.chunks * self.chunk_bytes // RECORDS[kind].itemsize
        good = [each for each in chunks if 0 < each.first <= room]
        if len(good) < len(chunks):
            self._doubt_once(f"some {kind.name.lower()} have impossible numbers")
        most = max((each.first + len(each.records) for each in good), default=1)
        found = np.zeros(most, RECORDS[kind])
        for chunk in good:
            found[chunk.first : chunk.first + len(chunk.records)] = chunk.records
        return found

    def _doubt_once(self, what: str) -> None:
        doubt = f"{self.path} is damaged: {what}; they are left out"
        if doubt not in self.doubts:
            self.doubts.append(doubt)


def _record(raw: bytes, dtype: np.dtype[np.void]) -> np.void:
    record: np.void = np.frombuffer(raw, dtype)[0]
    return record


def text(raw: bytes | np.bytes_) -> str:
    """Return a name in a trace, up to its first zero, safe to print.

    What cannot be printed is escaped as in Python: `\\x1b`.
    """
    name = bytes(raw).split(b"\0")[0].decode(errors="backslashreplace")
    return escaped(name)


def path_text(raw: bytes | np.bytes_) -> str:
    """Return a path in a trace, to open it: `escaped` makes it fit to be shown."""
    return os.fsdecode(bytes(raw).split(b"\0")[0])


def _open(path: Path) -> tuple[bytes, mmap.mmap]:
    """A copy of the header, then all of the file, which may grow meanwhile."""
    try:
        if path.exists() and not path.is_file():
            raise HaspError(f"{path} is not a file", WHICH_FILE)
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise HaspError(f"{path} is empty", RECORD_IT_AGAIN)
            head = file.read(format.HEADER.itemsize)
            return head, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as problem:
        raise HaspError(f"{path}: {problem.strerror or problem}", WHICH_FILE) from None
