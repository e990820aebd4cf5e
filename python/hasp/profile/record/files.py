# SPDX-License-Identifier: MIT
"""The traces of one run: hasp.trace, hasp.trace.2, ..., and what is beside them.

The recorder makes a file only where none is, so the launcher removes what an earlier
run left; nothing else is ever removed.
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

# The head of struct trace_header (src/profiler/trace.h), which is all that is asked
# here: numpy, which reads the rest, is not loaded before the program starts.
HEAD = struct.Struct("=8sIIIIQQIIIIIIII")
MAGIC = b"hasptrc\0"
VERSION = 1
BYTE_ORDER = 0x01020304
RUNNING = 0
SYMBOLS = ".symbols"


class Trace(NamedTuple):
    """A trace on the disk, as its head describes it."""

    path: Path
    session: int
    pid: int
    running: bool  # the process still writes to it
    complete: bool = True  # the process said that it ends, or is replaced


def head(path: Path) -> Trace | None:
    """The trace at `path`, or None if there is none, or none yet."""
    try:
        with path.open("rb") as file:
            fields = HEAD.unpack(file.read(HEAD.size))
    except (OSError, struct.error):
        return None
    if fields[:3] != (MAGIC, VERSION, BYTE_ORDER):
        return None
    running = fields[14] == RUNNING and _is_mapped_by(fields[7], path)
    return Trace(path, fields[6], fields[7], running, fields[14] != RUNNING)


def _is_mapped_by(pid: int, path: Path) -> bool:
    """Whether that process has the file mapped: the number alone may be another's."""
    try:
        inode = str(path.stat().st_ino)
        text = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return False
    return any(line.split()[4] == inode for line in text.splitlines())


def tell_signal(trace: Trace, number: int) -> None:
    """Write into a trace that a signal ended its process, which could not say so."""
    from hasp.profile.trace.format import HEADER

    assert HEADER.fields is not None
    kind, offset, *_ = HEADER.fields["stopped_by"]
    with contextlib.suppress(OSError), trace.path.open("r+b") as file:
        file.seek(offset)
        file.write(number.to_bytes(kind.itemsize, sys.byteorder))


def names(path: Path) -> list[Path]:
    """The files of this name that may be traces: it, and with .2, .3 and so on."""
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
    """The traces that one run has made so far, in the order of its processes."""
    found = [head(name) for name in names(path)]
    return [trace for trace in found if trace is not None and trace.session == session]


def new_session() -> int:
    """A number that no other run has."""
    return secrets.randbits(63) | 1


def clear(path: Path) -> None:
    """Make room for new traces at `path`: remove old ones, refuse all else."""
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
            f"{name} is not a trace of Hasp, and will not be replaced",
            "name another file with -o, or move that one away",
        )
    if trace is not None and trace.running:
        raise HaspError(
            f"process {trace.pid} still records into {name}",
            "end it, or name another file with -o",
        )


def _was_begun(name: Path) -> bool:
    """Whether it is empty, of another version, or never became valid (a crash)."""
    if name.is_symlink() or not name.is_file():
        return False
    with name.open("rb") as file:
        start = file.read(HEAD.size)
    known = struct.pack("=II", VERSION, BYTE_ORDER)
    return not start or start[:8] == MAGIC or start[:16] == bytes(8) + known


def room(folder: Path) -> int:
    """Bytes that are free there."""
    facts = os.statvfs(folder)
    return facts.f_bavail * facts.f_frsize
