# SPDX-License-Identifier: MIT
"""Record only a part of the run: `hasp profile --delay` and `--duration`.

The recorder records from the start. At the beginning of the window its traces are
copied; at the end, what is new since then replaces them, while the recorder goes on
writing to files that no longer have a name.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hasp.base.errors import HaspError
from hasp.base.output import note
from hasp.profile.record import files


@dataclass(frozen=True)
class Times:
    """The window, in seconds since the program was started."""

    begin: float = 0.0
    length: float | None = None  # None: to the end of the program
    control: Path | None = None  # a FIFO from which `start` and `stop` are read


class Window:
    """Follows the clock, or the commands of a FIFO, and cuts the traces."""

    def __init__(self, times: Times, traces: Callable[[], list[files.Trace]]) -> None:
        self._times = times
        self._traces = traces
        self._started = time.monotonic()
        self._copies = TemporaryDirectory(prefix="hasp-")
        self._before: dict[Path, Path] = {}
        self._kept: set[Path] = set()
        self._begun: float | None = None
        self.done = False
        self.failed = False  # the traces could not be cut
        self._commands = _Commands(times.control) if times.control else None

    def seconds_left(self) -> float:
        """Return the time until there is something to do."""
        if self.done:
            return float("inf")
        if self._commands:
            return _Commands.POLL
        begin = self._started + self._times.begin
        if self._begun is None:
            return max(0.0, begin - time.monotonic())
        if self._times.length is None:
            return float("inf")
        return max(0.0, begin + self._times.length - time.monotonic())

    def turn(self) -> None:
        """Begin or end the window if it is time.

        If the traces cannot be copied, for example to a full disk, says so: the program
        goes on, and so must Hasp.
        """
        if self.done:
            return
        try:
            self._turn()
        except (OSError, HaspError) as problem:
            self._give_up(problem)

    def _turn(self) -> None:
        commands = self._commands.read() if self._commands else []
        due = self.seconds_left() == 0.0
        if due:
            commands.append("start" if self._begun is None else "stop")
        for command in commands:
            if command == "start" and self._begun is None:
                self._begin()
            elif command == "stop" and self._begun is not None:
                self.end()

    def _begin(self) -> None:
        self._begun = time.monotonic()
        for trace in self._traces():
            self._before[trace.path] = self._copy(trace.path, "begin")

    def end(self) -> None:
        """End the window, and replace the traces by what happened in it."""
        if self.done or self._begun is None:
            return
        copies = {one.path: self._copy(one.path, "end") for one in self._traces()}
        # Imported after the copies: it takes a moment, which would extend the window.
        from hasp.profile.trace.window import write_window

        for path, after in copies.items():
            write_window(self._before.get(path), after, path)
            self._kept.add(path)
        self.close()

    def _give_up(self, problem: OSError | HaspError) -> None:
        why = getattr(problem, "strerror", None) or problem
        words = "cannot cut a part of the run out of the traces, so they keep all of it"
        note(f"{words}: {why}")
        self.failed = True
        self.close()

    def close(self) -> None:
        """Remove the copies."""
        self.done = True
        self._copies.cleanup()
        if self._commands:
            self._commands.close()

    def finish(self) -> None:
        """End the window with the program, and remove traces that began after it."""
        if self.failed:
            return
        if self._begun is None:
            note(
                "the program ended before the window began: "
                "the trace covers the whole run"
            )
            self.close()
            return
        try:
            self.end()
        except (OSError, HaspError) as problem:
            self._give_up(problem)
            return
        for trace in self._traces():
            if trace.path not in self._kept:
                trace.path.unlink(missing_ok=True)

    def _copy(self, path: Path, suffix: str) -> Path:
        copy = Path(self._copies.name) / f"{path.name}.{suffix}"
        shutil.copyfile(path, copy)
        return copy


class _Commands:
    """Reads lines from a FIFO without waiting for a writer."""

    POLL = 0.1  # seconds

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._rest = ""

    def read(self) -> list[str]:
        """Return the commands that have arrived; unknown ones are reported."""
        try:
            self._rest += os.read(self._file, 4096).decode(errors="replace")
        except BlockingIOError:
            return []
        *lines, self._rest = self._rest.split("\n")
        words = [line.strip() for line in lines if line.strip()]
        for word in words:
            if word not in ("start", "stop"):
                note(f"control: {word!r} is neither `start` nor `stop`")
        return words

    def close(self) -> None:
        os.close(self._file)
