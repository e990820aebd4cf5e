# SPDX-License-Identifier: MIT
"""Where the live view looks: at a program of its own, or at one that is recorded."""

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

MOST_LINES = 1000  # of its output that are kept
SET_PARENT_DEATH_SIGNAL = 1  # of prctl(2)
_libc = ctypes.CDLL(None)
GRACE = 2.0  # seconds that the program has to end when it is asked to


class Source(Protocol):
    """A program that is recorded."""

    title: str
    lines: deque[str]  # what it wrote and nobody has taken yet

    def traces(self) -> list[files.Trace]:
        """Its traces so far, one a process."""

    def status(self) -> int | None:
        """How it ended (negative: by that signal), None as long as it runs."""

    def why_no_trace(self) -> HaspError | None:
        """Once it has ended without one."""

    def stop(self) -> None:
        """The view ends: so does a program that was started for it."""


class Started:
    """A program that was started for the view, away from the terminal."""

    def __init__(self, target: Target, output: int | None) -> None:
        """Its output goes to the descriptor; with None, its last lines are kept."""
        self.title = " ".join(target.command)
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self._target = target
        # A session of its own: the keys of the terminal are for the view.
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
        """Its traces so far."""
        found = files.of_session(self._target.trace, self._target.session)
        if not found:
            self._family.look()
        return found

    def status(self) -> int | None:
        """How it ended."""
        return self._process.poll()

    def why_no_trace(self) -> HaspError | None:
        """What was seen of it."""
        return self._family.why_no_trace(self._target.trace.parent)

    def stop(self) -> None:
        """Ask the program and its children to end; kill them if it does not."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is not None:
                return
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)


def _die_with_parent() -> None:
    """In the child: end when the view is killed, for nobody would see it any more."""
    _libc.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


class Attached:
    """A program that `hasp profile` records, here or in another terminal."""

    def __init__(self, path: Path) -> None:
        trace = files.head(path)
        if trace is None:
            raise HaspError(
                f"{path} is not a trace of Hasp",
                "give the trace that a running `hasp profile` writes, or a command "
                "after --",
            )
        if not trace.running:
            raise HaspError(
                f"{path} is complete: process {trace.pid} has ended",
                f"`hasp report {path}` shows what it says",
            )
        self.title = f"process {trace.pid}"
        self.lines: deque[str] = deque()
        self._trace = trace

    def traces(self) -> list[files.Trace]:
        """The one that was named."""
        return [self._trace]

    def status(self) -> int | None:
        """Whose child it is, learns its status; here it counts that it has ended."""
        now = files.head(self._trace.path)
        return None if now is not None and now.running else 0

    def why_no_trace(self) -> HaspError | None:
        """There is one."""
        return None

    def stop(self) -> None:
        """It goes on."""
