# SPDX-License-Identifier: MIT
"""Read a trace: a snapshot of its complete records, however the program ended.

Every number in the file is checked against the file's size before it is used, so a
damaged trace costs no more memory and time than its length. Unreadable parts are
skipped and reported in `doubts`; a file without any readable part raises HaspError.
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
from hasp.profile.trace.format import RECORDS, SMALLER, ChunkKind, Records

RECORD_IT_AGAIN = "record it again with `hasp profile`, or copy it again"
WHICH_FILE = "name a file that `hasp profile` wrote; by default it is hasp.trace"
# bytes; the header fits in the smallest
SMALLEST_CHUNK, LARGEST_CHUNK = 1 << 13, 1 << 26
# The values that a recorder on Linux can write. Anything else is damage.
PLAUSIBLE = {
    "chunks": (1, 1 << 26, "chunks"),
    "pid": (1, 1 << 22, "as its process id"),
    "cpus": (1, 1 << 13, "CPUs"),
    "nodes": (1, 1 << 10, "NUMA nodes"),
    "mode": (1, 2, "as its recording mode"),
    "sampler_hz": (0, 1000, "samples a second"),
    "ended": (0, 2, "as its end state"),
    "full": (0, 2, "as the reason for being full"),
}


class Chunk(NamedTuple):
    """The complete records of one chunk."""

    number: int  # index of the chunk in the file
    first: int  # number of its first record; 0: not numbered
    writer: int  # thread; 0: several
    owner: int  # thread of the first of several tables
    records: Records


class Trace:
    """A snapshot of a trace. Records are read on demand."""

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
                *(0, "the trace was never started: its first bytes are zero"),
                "the program ended while it was creating the trace; " + RECORD_IT_AGAIN,
            )
        if found != format.MAGIC:
            raise self._refusal(
                *(0, "this is not a Hasp trace: its first bytes differ"),
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
                "the trace comes from a machine with the other byte order",
                "read it on a machine like the one that recorded it",
            )
        if header["byte_order"] != format.BYTE_ORDER or header["version"] == 0:
            raise self._refusal(
                place["version"][1], "the trace's header is damaged", RECORD_IT_AGAIN
            )
        if header["version"] > format.VERSION:
            raise self._refusal(
                place["version"][1],
                f"the trace has format {header['version']}; this version of Hasp reads "
                f"formats up to {format.VERSION}",
                "read it with the version of Hasp that recorded it, or a newer one",
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
                f"{written * self.chunk_bytes} bytes; the rest is not counted"
            )
        elif self.header["ended"] and self._has_records(written, there):
            self.doubts.append(
                f"the header of {self.path} is damaged: it counts {written} of {there} "
                "chunks; the others are skipped"
            )
        return min(written, there)

    def _has_records(self, begin: int, end: int) -> bool:
        """Return true if chunks beyond the header's count contain records."""
        heads = (self._head(number) for number in range(begin, end))
        return any(head["kind"] in RECORDS and head["used"] for head in heads)

    @cached_property
    def _chunks(self) -> dict[ChunkKind, list[Chunk]]:
        """All undamaged chunks by kind."""
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
                writer, owner = int(head["writer"]), int(head["owner"])
                chunk = Chunk(number, int(head["first"]), writer, owner, records)
                found[ChunkKind(kind)].append(chunk)
            number += span
        if self._damaged:
            self.doubts.append(
                f"{len(self._damaged)} parts of {self.path} are damaged and skipped, "
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
        """Return a chunk's records without copying; None if the chunk is damaged."""
        step, used = int(head["record_bytes"]), int(head["used"])
        begin = number * self.chunk_bytes + format.CHUNK_HEAD.itemsize
        room = (number + span) * self.chunk_bytes - begin
        smallest = SMALLER.get(ChunkKind(int(head["kind"])), known.itemsize)
        if step < smallest or step % 4 or used * step > room:
            return None
        raw = np.frombuffer(self._bytes, np.uint8, used * step, begin)
        if step < known.itemsize:  # of an earlier version, without the last fields
            narrow = np.zeros((used, known.itemsize), np.uint8)
            narrow[:, :step] = raw.reshape(used, step)
            return narrow.reshape(-1).view(known)
        wide = raw.reshape(used, step)[:, : known.itemsize]
        if step == known.itemsize:
            return wide.reshape(-1).view(known)
        return np.ascontiguousarray(wide).reshape(-1).view(known)

    def each(self, kind: ChunkKind) -> Iterator[Chunk]:
        """Yield the chunks of one kind in file order; their records are not copied."""
        yield from self._chunks[kind]

    def all(self, kind: ChunkKind) -> Records:
        """Return a copy of all records of one kind."""
        parts = [chunk.records for chunk in self._chunks[kind]]
        if not parts:
            return np.zeros(0, RECORDS[kind])
        return np.concatenate(parts)

    def numbered(self, kind: ChunkKind) -> Records:
        """Return the records of one kind indexed by number; missing ones are zero."""
        chunks = self._chunks[kind]
        # Numbers have gaps at the ends of chunks only, so a number beyond the capacity
        # of all chunks is damage.
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
        doubt = f"{self.path} is damaged: {what}; they are skipped"
        if doubt not in self.doubts:
            self.doubts.append(doubt)


def _record(raw: bytes, dtype: np.dtype[np.void]) -> np.void:
    record: np.void = np.frombuffer(raw, dtype)[0]
    return record


def text(raw: bytes | np.bytes_) -> str:
    """Return a name in a trace, up to its first zero byte, safe to print.

    Unprintable characters are escaped as in Python: `\\x1b`.
    """
    name = bytes(raw).split(b"\0")[0].decode(errors="backslashreplace")
    return escaped(name)


def path_text(raw: bytes | np.bytes_) -> str:
    """Return a path in a trace for opening it. Apply `escaped` before printing it."""
    return os.fsdecode(bytes(raw).split(b"\0")[0])


def _open(path: Path) -> tuple[bytes, mmap.mmap]:
    """Return a copy of the header and a mapping of the whole file, which may grow."""
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
