# SPDX-License-Identifier: MIT
"""Atomic output files: written to a temporary neighbour, then renamed."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from hasp.base.errors import HaspError


@contextmanager
def replacing(destination: str | Path) -> Iterator[Path]:
    """Yield the path to write to; it replaces `destination` when the block succeeds.

    The new file has the suffix of the old one and keeps its mode. A device or a pipe,
    and a file in a folder that may not be written, is written in place. If the block
    raises, the old file stays as it is; OSError becomes HaspError.
    """
    path = Path(os.path.realpath(destination))
    in_place = path.exists() and not path.is_file()
    if in_place or not os.access(path.parent, os.W_OK):
        with explained(destination):
            yield path
        return
    unfinished = path.with_name(f".hasp-{secrets.token_hex(6)}{path.suffix}")
    try:
        with explained(destination):
            yield unfinished
            if path.exists():
                unfinished.chmod(path.stat().st_mode & 0o7777)
            unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


@contextmanager
def explained(destination: str | Path) -> Iterator[None]:
    """Turn an OSError of the block into a HaspError that names `destination`."""
    try:
        yield
    except OSError as problem:
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        raise HaspError(
            f"cannot write {destination}: {problem.strerror or problem}",
            "free some space there, or name a file elsewhere"
            if full
            else "name a file in a folder that exists and that you may write to",
        ) from None


def write_file(destination: str | Path, content: str | bytes) -> None:
    """Write a whole file as UTF-8 text or as bytes; raise HaspError if that fails."""
    data = content if isinstance(content, bytes) else content.encode(errors="replace")
    with replacing(destination) as path:
        path.write_bytes(data)


def claim(file: IO[Any], command: str, remedy: str) -> None:
    """Lock an open file that one process at a time may write, until it is closed.

    If another process has it, closes the file and raises HaspError: `command` is
    writing it. File systems without locks are accepted.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise HaspError(f"another `{command}` is writing {file.name}", remedy) from None
    except OSError:
        return
