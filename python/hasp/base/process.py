# SPDX-License-Identifier: MIT
"""Run small helper programs and read their output, without importing `subprocess`.

`hasp run` starts one or two of them before every program, and importing subprocess
costs more than running them.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Python ignores these two signals; children must not inherit that disposition.
PYTHON_IGNORES = (signal.SIGPIPE, signal.SIGXFSZ)


class Captured(NamedTuple):
    """The exit status of a helper and its standard output."""

    status: int  # as in a shell: 128 + the number of a fatal signal
    stdout: str  # and stderr, if requested


def exit_status(wait_status: int) -> int:
    """Return the exit status as a shell reports it."""
    code = os.waitstatus_to_exitcode(wait_status)
    return code if code >= 0 else 128 - code


def capture(
    argv: Sequence[str],
    environment: Mapping[str, str],
    timeout: float,
    *,
    with_stderr: bool = False,
) -> Captured | None:
    """Run `argv`, whose first word is a path; read its stdout and, if asked, stderr.

    Returns None if it cannot be started or does not end within `timeout` seconds.
    """
    reader, writer = os.pipe()
    stderr = (
        (os.POSIX_SPAWN_DUP2, writer, 2)
        if with_stderr
        else (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)
    )
    try:
        child = os.posix_spawn(
            argv[0],
            list(argv),
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, writer, 1),
                stderr,
            ],
            setsigdef=PYTHON_IGNORES,
        )
    except OSError:
        os.close(reader)
        return None
    finally:
        os.close(writer)
    chunks = []
    deadline = time.monotonic() + timeout
    poller = select.poll()
    poller.register(reader, select.POLLIN)
    try:
        while poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            chunk = os.read(reader, 65536)
            if not chunk:
                break
            chunks.append(chunk)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
    finally:
        os.close(reader)
    _, wait_status = os.waitpid(child, 0)
    return Captured(exit_status(wait_status), b"".join(chunks).decode(errors="replace"))
