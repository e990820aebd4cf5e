# SPDX-License-Identifier: MIT
"""The traces of a run (hasp.trace, hasp.trace.2, ...) and their symbols files.

The recorder never overwrites a file, so the launcher removes the traces of an earlier
run. It removes nothing else.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import struct
import sys
from pathlib import Path
from typing import NamedTuple

from hasp.base.errors import HaspError
from hasp.base.output import check_writable

# The first fields of struct trace_header (src/profiler/trace.h). They are read without
# numpy, which is not loaded before the program starts.
HEAD = struct.Struct("=8sIIIIQQIIIIIIII")
MAGIC = b"hasptrc\0"
VERSION = 2  # the newest
BYTE_ORDER = 0x01020304
RUNNING = 0
SYMBOLS = ".symbols"


class Trace(NamedTuple):
    """A trace on disk, as described by its header."""

    path: Path
    session: int
    pid: int
    running: bool  # the process is still writing
    complete: bool = True  # the process reported its exit or exec


def head(path: Path) -> Trace | None:
    """Return the trace at `path`; None if there is none yet."""
    try:
        with path.open("rb") as file:
            fields = HEAD.unpack(file.read(HEAD.size))
    except (OSError, struct.error):
        return None
    magic, version, byte_order = fields[:3]
    if magic != MAGIC or byte_order != BYTE_ORDER or not 0 < version <= VERSION:
        return None
    running = fields[14] == RUNNING and _is_mapped_by(fields[7], path)
    return Trace(path, fields[6], fields[7], running, fields[14] != RUNNING)


def _is_mapped_by(pid: int, path: Path) -> bool:
    """Return true if the process maps the file, as its id may have been reused."""
    try:
        inode = str(path.stat().st_ino)
        text = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return False
    return any(line.split()[4] == inode for line in text.splitlines())


def tell_signal(trace: Trace, number: int) -> None:
    """Record in a trace that a signal killed its process."""
    _write(trace, stopped_by=number)


def tell_neighbour(trace: Trace, name: str, cpus: float) -> None:
    """Record in a trace which other program used most CPU time, and how many CPUs."""
    _write(trace, neighbour=name, neighbour_percent=round(100 * cpus))


def tell_processor(trace: Trace, processor: str) -> None:
    """Record in a trace on which processor it was made."""
    _write(trace, processor=processor)


def _write(trace: Trace, **fields: int | str) -> None:
    """Write fields of a trace's header."""
    # Imported here so that the program starts without numpy loaded.
    from hasp.profile.trace.format import HEADER

    assert HEADER.fields is not None
    with contextlib.suppress(OSError), trace.path.open("r+b") as file:
        for name, value in fields.items():
            kind, offset, *_ = HEADER.fields[name]
            file.seek(offset)
            if isinstance(value, int):
                file.write(value.to_bytes(kind.itemsize, sys.byteorder))
            else:
                text = os.fsencode(value)[: kind.itemsize]
                file.write(text.ljust(kind.itemsize, b"\0"))


def names(path: Path) -> list[Path]:
    """Return the possible trace files of this name: itself, and with .2, .3, ..."""
    stem = path.name + "."
    numbered = [
        (int(other.name.removeprefix(stem)), other)
        for other in path.parent.glob("*")
        if other.name.startswith(stem)
        and other.name.removeprefix(stem).isascii()
        and other.name.removeprefix(stem).isdecimal()
    ]
    return [path] * path.exists() + [other for _, other in sorted(numbered)]


def of_session(path: Path, session: int) -> list[Trace]:
    """Return the traces of one run so far, in the order of its processes."""
    found = [head(name) for name in names(path)]
    return [trace for trace in found if trace is not None and trace.session == session]


def new_session() -> int:
    """Return a random session number."""
    return secrets.randbits(63) | 1


def clear(path: Path) -> None:
    """Remove old traces at `path`; raise HaspError for anything else."""
    check_writable(str(path))
    old = names(path)
    for name in old:
        _refuse_unless_old(name)
    for name in old:
        name.unlink()
        name.with_name(name.name + SYMBOLS).unlink(missing_ok=True)


def _refuse_unless_old(name: Path) -> None:
    trace = head(name)
    if trace is None and not _was_begun(name):
        raise HaspError(
            f"{name} is not a Hasp trace, and will not be overwritten",
            "name another file with -o, or move that one",
        )
    if trace is not None and trace.running:
        raise HaspError(
            f"process {trace.pid} is still recording into {name}",
            "end it, or name another file with -o",
        )


def _was_begun(name: Path) -> bool:
    """Return true if the file is empty, incomplete or of another version."""
    if name.is_symlink() or not name.is_file():
        return False
    with name.open("rb") as file:
        start = file.read(HEAD.size)
    known = [struct.pack("=II", n + 1, BYTE_ORDER) for n in range(VERSION)]
    return (
        not start or start[:8] == MAGIC or start[:16] in [bytes(8) + k for k in known]
    )


def room(folder: Path) -> int:
    """Return the free bytes in the folder's file system."""
    facts = os.statvfs(folder)
    return facts.f_bavail * facts.f_frsize
