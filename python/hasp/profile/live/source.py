# SPDX-License-Identifier: MIT
"""The program under the live view: started for it, or already being recorded."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections import deque
from pathlib import Path
from threading import Thread
from typing import Protocol

from hasp.base.errors import HaspError
from hasp.profile.record import files
from hasp.profile.record.family import Family
from hasp.profile.record.target import Target

MOST_LINES = 1000  # lines of its output that are kept
SET_PARENT_DEATH_SIGNAL = 1  # of prctl(2)
_libc = ctypes.CDLL(None)
GRACE = 2.0  # seconds for the program to end after SIGTERM


class Source(Protocol):
    """A recorded program."""

    title: str
    lines: deque[str]  # output that was not shown yet

    def traces(self) -> list[files.Trace]:
        """Return its traces so far, one per process."""

    def status(self) -> int | None:
        """Return its exit status, negative for a signal; None while it runs."""

    def why_no_trace(self) -> HaspError | None:
        """Explain why it ended without a trace."""

    def stop(self) -> None:
        """End a program that was started for the view; called when the view ends."""


class Started:
    """A program started for the view, detached from the terminal."""

    def __init__(self, target: Target, output: int | None) -> None:
        """Start the program. Its output goes to the descriptor, or its last lines are
        kept."""
        self.title = " ".join(target.command)
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self._target = target
        # A separate session, so that terminal keys reach only the view.
        self._process = subprocess.Popen(
            target.command,
            executable=target.path,
            env=target.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if output is None else output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        self._family = Family(self._process.pid)
        if output is None:
            Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.decode(errors="replace").rstrip("\r\n"))

    def traces(self) -> list[files.Trace]:
        """Return its traces so far."""
        found = files.of_session(self._target.trace, self._target.session)
        if not found:
            self._family.look()
        return found

    def status(self) -> int | None:
        """Return its exit status."""
        return self._process.poll()

    def why_no_trace(self) -> HaspError | None:
        """Return what the polls of its processes show."""
        return self._family.why_no_trace(self._target.trace.parent)

    def stop(self) -> None:
        """Terminate the program and its children, and kill them if they do not end."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is not None:
                return
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)


def _die_with_parent() -> None:
    """Make the child end when the view is killed; runs in the child."""
    _libc.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


class Attached:
    """A program recorded by `hasp profile`, here or in another terminal."""

    def __init__(self, path: Path) -> None:
        trace = files.head(path)
        if trace is None:
            raise HaspError(
                f"{path} is not a Hasp trace",
                "name the trace of a running `hasp profile`, or a command after --",
            )
        if not trace.running:
            raise HaspError(
                f"{path} is complete: process {trace.pid} has ended",
                f"`hasp report {path}` shows it",
            )
        self.title = f"process {trace.pid}"
        self.lines: deque[str] = deque()
        self._trace = trace

    def traces(self) -> list[files.Trace]:
        """Return the named trace."""
        return [self._trace]

    def status(self) -> int | None:
        """Return 0 when it has ended: only its parent receives its status."""
        now = files.head(self._trace.path)
        return None if now is not None and now.running else 0

    def why_no_trace(self) -> HaspError | None:
        """Return None: there is a trace."""
        return None

    def stop(self) -> None:
        """Do nothing: the program continues."""
