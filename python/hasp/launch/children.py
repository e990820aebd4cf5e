# SPDX-License-Identifier: MIT
"""Starts measured programs through the launcher, with time limits, and stops them.

Stopping includes the process group of the program and all descendants that left the
group, so that nothing continues to run during the next measurement.
"""

from __future__ import annotations

import contextlib
import ctypes
import marshal
import os
import select
import signal
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from hasp.base.errors import HaspError
from hasp.base.signals import uninterrupted

LAUNCHER = Path(__file__).with_name("launcher.py")
SET_CHILD_SUBREAPER = 36  # of prctl(2)
GRACE = 2.0  # seconds between asking a program to end and killing it
# A Python whose own library is in an unusual folder needs this variable to start.
LIBRARY_PATH = "LD_LIBRARY_PATH"


@dataclass(frozen=True)
class Usage:
    """The exit code of a program, and the resources that it and its children used."""

    exit_code: int  # negative: the signal that killed it
    wall_s: float
    user_s: float
    system_s: float
    peak_bytes: int
    switches: int
    preemptions: int


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that they can be killed."""
    ctypes.CDLL(None, use_errno=True).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _launcher_died() -> HaspError:
    return HaspError(
        "the process that starts the measured programs has died",
        "check whether the machine ran out of memory, and start again",
    )


class Launcher:
    """A small process that starts one program at a time (see launcher.py)."""

    def __init__(self, folder: str) -> None:
        """`folder` holds the output of its programs.

        If this process is killed, the folder is deleted when the last program ends.
        """
        self._child: Child | None = None
        self._ended: Usage | None = None  # of the last child, once it has ended
        request_reader, self._requests = os.pipe()
        self._replies, reply_writer = os.pipe()
        with uninterrupted():
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", str(LAUNCHER), folder],
                {key: os.environ[key] for key in (LIBRARY_PATH,) if key in os.environ},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, request_reader, 0),
                    (os.POSIX_SPAWN_DUP2, reply_writer, 1),
                ],
                setsid=True,
                setsigmask=[],
            )
            os.close(request_reader)
            os.close(reply_writer)
            self.floor_bytes = int(self._receive()["floor_kib"]) * 1024

    def close(self) -> None:
        """End the launcher and its program, if that is still running."""
        with uninterrupted():
            if self._child is not None and self._ended is None:
                # Its death was reported when the program was waited for.
                with contextlib.suppress(HaspError):
                    self._child.stop()
            os.close(self._requests)
            os.close(self._replies)
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def start(
        self,
        path: str,
        argv: Sequence[str],
        environment: Mapping[str, str],
        output: tuple[Path, Path],
        cpus: Collection[int] = (),
    ) -> Child:
        """Start a program with stdout and stderr in files and stdin empty.

        Its affinity mask is set to `cpus` unless that is empty.
        """
        # Bytes, because the launcher has no locale, and would encode text as UTF-8.
        request = {
            "path": os.fsencode(path),
            "argv": [os.fsencode(word) for word in argv],
            "environment": {
                os.fsencode(name): os.fsencode(value)
                for name, value in environment.items()
            },
            "stdin": os.devnull,
            "stdout": os.fsencode(output[0]),
            "stderr": os.fsencode(output[1]),
            "cpus": sorted(cpus),
        }
        data = marshal.dumps(request)
        with uninterrupted():
            self._send(len(data).to_bytes(4, "little") + data)
            self._ended = None
            reply = self._receive()
            if "error" in reply:
                raise HaspError(
                    f"{path} cannot be started: {reply['error']}",
                    "check that it runs without Hasp",
                )
            # Stored here in case Ctrl-C arrives before the caller receives it.
            self._child = Child(self, int(reply["pid"]))
            return self._child

    def _send(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._requests, left) :]
        except BrokenPipeError:  # not that of our output, which ends Hasp silently
            raise _launcher_died() from None

    def _receive(self) -> dict[str, Any]:
        """Wait for the next message and return it."""
        size = int.from_bytes(self._exactly(4), "little")
        message: dict[str, Any] = marshal.loads(self._exactly(size))
        return message

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = os.read(self._replies, size - len(data))
            if not piece:
                raise _launcher_died()
            data += piece
        return data

    def usage(self, timeout: float | None) -> Usage | None:
        """Return the usage of the program; None if it does not end in time."""
        if self._ended is None:
            poller = select.poll()
            poller.register(self._replies, select.POLLIN)
            if not poller.poll(None if timeout is None else max(0.0, timeout) * 1000):
                return None
            # Ctrl-C must not lose the message, which can be read only once.
            with uninterrupted():
                reply = self._receive()
                self._ended = Usage(
                    exit_code=os.waitstatus_to_exitcode(reply["wait_status"]),
                    wall_s=reply["wall_s"],
                    user_s=reply["user_s"],
                    system_s=reply["system_s"],
                    peak_bytes=reply["peak_kib"] * 1024,
                    switches=reply["switches"],
                    preemptions=reply["preemptions"],
                )
        return self._ended


class Child:
    """A program that is running or has ended."""

    def __init__(self, launcher: Launcher, pid: int) -> None:
        self._launcher = launcher
        self.pid = pid
        self._usage: Usage | None = None

    def wait(self, timeout: float) -> Usage | None:
        """Return its usage; None if it does not end within `timeout` seconds."""
        if self._usage is None:
            self._usage = self._launcher.usage(timeout)
        return self._usage

    def stop(self, grace: float = GRACE) -> Usage:
        """Terminate it and its descendants; kill those that remain after `grace`."""
        with uninterrupted():
            family = self._family()
            if self._usage is None:
                self._signal(signal.SIGTERM, family)
                # If the launcher has died, the program must be killed nevertheless.
                with contextlib.suppress(HaspError):
                    self.wait(grace)
            family |= self._family()
            self._signal(signal.SIGKILL, family)
            if self._usage is None:
                self._usage = self._launcher.usage(None)
            assert self._usage is not None
            return self._usage

    def _family(self) -> set[psutil.Process]:
        """Return its live descendants, including those that left its process group."""
        try:
            return set(psutil.Process(self.pid).children(recursive=True))
        except psutil.Error:
            return set()

    def _signal(self, number: int, family: set[psutil.Process]) -> None:
        # Its process id may be reused once it has been reaped, but not the id of its
        # group while the group has members. An empty group cannot be signalled.
        with contextlib.suppress(OSError):
            os.killpg(self.pid, number)
        for member in family:
            with contextlib.suppress(psutil.Error):
                member.send_signal(number)


class Strays:
    """Kills the orphans that appear while it is in use, and adds up their usage.

    Orphans that existed before, such as daemons started by `--prepare`, are not killed.
    """

    def __init__(self) -> None:
        self._before = set(self._children())

    @staticmethod
    def _children() -> list[int]:
        # The kernel's list, if it has one, because psutil reads all processes.
        lists = list(Path("/proc/self/task").glob("*/children"))
        if not lists:
            return [child.pid for child in psutil.Process().children()]
        found: list[int] = []
        for path in lists:
            with contextlib.suppress(OSError):
                found += map(int, path.read_text().split())
        return found

    def end(self) -> tuple[float, float, int]:
        """Kill new orphans; return their user and system seconds and largest peak."""
        with uninterrupted():
            return self._end()

    def _end(self) -> tuple[float, float, int]:
        user = system = 0.0
        peak = 0
        # Killing one may orphan others, which this process then adopts.
        deadline = time.monotonic() + GRACE
        empty = 0
        # The kernel's list may omit some while others are removed: read it until it is
        # empty twice.
        while empty < 2 and time.monotonic() < deadline:
            strays = [pid for pid in self._children() if pid not in self._before]
            empty = 0 if strays else empty + 1
            for pid in strays:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(OSError):
                    _, _, usage = os.wait4(pid, 0)
                    user += usage.ru_utime
                    system += usage.ru_stime
                    peak = max(peak, usage.ru_maxrss * 1024)
        return user, system, peak
