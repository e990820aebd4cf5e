# SPDX-License-Identifier: MIT
"""The reader reads complete records, and refuses other files with a helpful error."""

from __future__ import annotations

import os
import sys
from mmap import mmap
from pathlib import Path

import numpy as np
import pytest
from trace_samples import SECOND, Synthetic

from hasp.base.errors import HaspError
from hasp.profile.model.build import load
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind
from hasp.profile.trace.reader import Trace


@pytest.fixture
def good(tmp_path: Path) -> Path:
    made = Synthetic()
    for address in range(2000):
        made.lock(address=address + 1)
    made.thread(tid=4242)
    return made.write(tmp_path / "hasp.trace")


def patch(path: Path, field: str, value: bytes) -> None:
    assert format.HEADER.fields is not None
    begin = format.HEADER.fields[field][1]
    data = bytearray(path.read_bytes())
    data[begin : begin + len(value)] = value
    path.write_bytes(data)


def refused(path: Path) -> HaspError:
    with pytest.raises(HaspError) as caught:
        Trace(path)
    assert str(path) in caught.value.message
    assert caught.value.remedy
    return caught.value


def test_records_are_found_by_number(good: Path) -> None:
    trace = Trace(good)
    locks = trace.numbered(ChunkKind.LOCKS)
    assert len(locks) == 2001  # in several chunks; 0 is unused
    assert (locks["address"] == np.arange(2001)).all()
    assert len(trace.all(ChunkKind.LOCKS)) == 2000
    assert len(trace.all(ChunkKind.SITE_STATS)) == 0
    assert trace.doubts == []


def test_a_table_continues_without_further_headers(tmp_path: Path, good: Path) -> None:
    counts = np.zeros(2000, format.LOCK_COUNT)
    counts["lock"] = np.arange(2000)
    head = np.zeros(1, format.CHUNK_HEAD)
    head["kind"], head["record_bytes"] = ChunkKind.LOCK_COUNTS, counts.itemsize
    head["used"], head["follow"] = 2000, 1
    table = (head.tobytes() + counts.tobytes()).ljust(2 * format.CHUNK, b"\xff")
    good.write_bytes(good.read_bytes() + table)
    before = Trace(good).chunks
    patch(good, "chunks", (before + 2).to_bytes(4, "little"))
    trace = Trace(good)
    assert (trace.all(ChunkKind.LOCK_COUNTS)["lock"] == np.arange(2000)).all()
    assert trace.doubts == []


def test_longer_records_of_a_newer_minor_format_are_read(good: Path) -> None:
    events = np.zeros(3, format.EVENT)
    events["lock"] = (5, 6, 7)
    wide = np.zeros((3, events.itemsize + 8), np.uint8)
    wide[:, : events.itemsize] = events.view(np.uint8).reshape(3, -1)
    head = np.zeros(1, format.CHUNK_HEAD)
    head["kind"], head["record_bytes"] = ChunkKind.EVENTS, events.itemsize + 8
    head["used"] = 3
    data = (head.tobytes() + wide.tobytes()).ljust(format.CHUNK, b"\0")
    good.write_bytes(good.read_bytes() + data)
    patch(good, "chunks", (Trace(good).chunks + 1).to_bytes(4, "little"))
    assert Trace(good).all(ChunkKind.EVENTS)["lock"].tolist() == [5, 6, 7]


def test_threads_of_an_older_trace_have_no_user_and_kernel_time(
    tmp_path: Path,
) -> None:
    made = Synthetic()
    made.thread(tid=11, cpu_ns=SECOND, outer_stack=3)
    made.thread(tid=12, cpu_ns=SECOND, user_ns=SECOND - 5, system_ns=5)
    path = made.write(tmp_path / "hasp.trace")
    without, split = load(path).threads
    assert (split.user_ns, split.system_ns) == (SECOND - 5, 5)
    assert (without.user_ns, without.system_ns) == (None, None)
    shortened(path)
    for thread in load(path).threads:
        assert (thread.user_ns, thread.system_ns) == (None, None)
        assert thread.cpu_ns == SECOND
    records = Trace(path).all(ChunkKind.THREADS)
    assert records["tid"].tolist() == [11, 12]
    assert records["outer_stack"].tolist() == [3, 0]
    assert Trace(path).doubts == []


def shortened(path: Path) -> None:
    """End the records of threads before `user_ns`, as older recorders did."""
    assert format.THREAD.fields is not None
    size = format.THREAD.fields["user_ns"][1]
    data = bytearray(path.read_bytes())
    for begin in range(format.CHUNK, len(data), format.CHUNK):
        first = begin + format.CHUNK_HEAD.itemsize
        head = np.frombuffer(data, format.CHUNK_HEAD, 1, begin)[0]
        if head["kind"] != ChunkKind.THREADS:
            continue
        records = np.frombuffer(data, format.THREAD, int(head["used"]), first).copy()
        old = b"".join(record.tobytes()[:size] for record in records)
        data[first : first + len(old)] = old
        data[begin + 4 : begin + 8] = size.to_bytes(4, "little")
    path.write_bytes(data)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 1000)
    assert "not a Hasp trace" in refused(path).message


def test_an_empty_file_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    assert "empty" in refused(empty).message
    assert "not a file" in refused(tmp_path).message
    assert "No such file" in refused(tmp_path / "nothing").message


def test_an_unfinished_header_is_reported(good: Path) -> None:
    patch(good, "magic", bytes(8))
    assert "never started" in refused(good).message


def test_the_error_about_a_newer_format_has_both_numbers(good: Path) -> None:
    patch(good, "version", (9).to_bytes(4, "little"))
    message = refused(good).message
    assert "format 9" in message
    assert f"up to {format.VERSION}" in message


def test_the_other_byte_order_is_reported(good: Path) -> None:
    patch(good, "byte_order", format.BYTE_ORDER.to_bytes(4, "big"))
    assert "byte order" in refused(good).message


def test_damaged_headers_are_refused_with_their_offset(good: Path) -> None:
    patch(good, "chunk_bytes", (12345).to_bytes(4, "little"))
    assert "offset 16" in refused(good).message


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("cpus", 44_290, "44,290 CPUs"),
        ("cpus", 0, "0 CPUs"),
        ("nodes", 2**31, "2,147,483,648 NUMA nodes"),
        ("chunks", 0, "0 chunks"),
        ("mode", 7, "recording mode"),
        ("ended", 9, "end state"),
    ],
)
def test_a_header_with_impossible_numbers_is_refused(
    good: Path, field: str, value: int, words: str
) -> None:
    patch(good, field, value.to_bytes(4, "little"))
    message = refused(good).message
    assert "header is damaged" in message
    assert words in message


def test_a_header_with_too_few_chunks_gives_a_warning(good: Path) -> None:
    patch(good, "chunks", (1).to_bytes(4, "little"))
    assert "header" in Trace(good).doubts[0]
    # A running program may have added chunks in the meantime.
    patch(good, "ended", bytes(4))
    assert Trace(good).doubts == []


@pytest.mark.parametrize("length", [9, 5000])
def test_a_trace_truncated_in_its_header_is_refused(good: Path, length: int) -> None:
    good.write_bytes(good.read_bytes()[:length])
    assert f"offset {length}" in refused(good).message


def test_the_rest_of_a_truncated_trace_is_read(good: Path) -> None:
    whole = good.read_bytes()
    good.write_bytes(whole[: len(whole) - 1])
    trace = Trace(good)
    assert "cut off" in trace.doubts[0]
    assert 0 < len(trace.all(ChunkKind.LOCKS)) <= 2000


def test_a_trace_that_grows_while_it_is_read_is_not_truncated(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = int(Trace(good).header["chunks"])

    def then_grows(*arguments: object, **options: object) -> object:
        view = mmap(*arguments, **options)  # type: ignore[arg-type]
        with good.open("r+b") as file:
            assert format.HEADER.fields is not None
            file.seek(format.HEADER.fields["chunks"][1])
            file.write((chunks + 1).to_bytes(4, sys.byteorder))
            file.seek(0, os.SEEK_END)
            file.write(bytes(format.CHUNK))
        return view

    monkeypatch.setattr("hasp.profile.trace.reader.mmap.mmap", then_grows)
    assert Trace(good).doubts == []


def test_a_damaged_chunk_is_left_out_and_reported(good: Path) -> None:
    data = bytearray(good.read_bytes())
    data[format.CHUNK * 2 + 12] ^= 0xFF  # `used` of the second chunk
    data[format.CHUNK * 2 + 13] ^= 0xFF
    good.write_bytes(data)
    trace = Trace(good)
    assert len(trace.all(ChunkKind.LOCKS)) < 2000
    assert f"offset {format.CHUNK * 2}" in trace.doubts[0]


def test_an_impossible_number_costs_no_memory(good: Path) -> None:
    data = bytearray(good.read_bytes())
    at = format.CHUNK * 2 + 8  # `first` of the first chunk of locks
    data[at : at + 4] = b"\xff" * 4
    good.write_bytes(data)
    trace = Trace(good)
    assert len(trace.numbered(ChunkKind.LOCKS)) < 100_000
    assert "impossible" in " ".join(trace.doubts)


def test_the_clock_of_a_synthetic_trace() -> None:
    header = Synthetic(3 * SECOND).header
    assert header["latest"]["ticks"] - header["begin"]["ticks"] == 3 * SECOND
