# SPDX-License-Identifier: MIT
"""Record in the foreground, from the program's start to the final summary."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from hasp.base import host
from hasp.base.errors import EXIT_FINDING
from hasp.profile.record import conclusion, files, hang
from hasp.profile.record.family import Family, descendants
from hasp.profile.record.foreground import Foreground, end_as, keep_signals
from hasp.profile.record.neighbours import Neighbours
from hasp.profile.record.target import Target
from hasp.profile.record.window import Times, Window

FIRST_LOOK = 0.05  # seconds; the delay doubles after each poll
LONGEST_PAUSE = 2.0
HANG_LOOKS = 10  # polls within the time that makes a hang
COMM = 15  # bytes of a program's name that the kernel keeps
GRACE = 2.0  # seconds for a hanging program to end


class Session:
    """A running program with Hasp following it."""

    def __init__(
        self,
        target: Target,
        hang_after: float | None,
        *,
        kill_on_hang: bool,
        times: Times | None = None,
    ) -> None:
        self._target = target
        self._window = Window(times, self._traces) if times else None
        self._hang_after = hang_after
        self._kills = kill_on_hang
        self._killed = False

    def run(self, wanted: conclusion.Wanted) -> int:
        """Record, print the summary, and return the exit status.

        It is the program's, or 1 if that is 0 and a condition of `wanted` holds.
        """
        inherited = keep_signals()
        if self._hang_after is not None:
            hang.prepare()
        program = Foreground(
            self._target.path, self._target.command, self._target.environment, inherited
        )
        neighbours = Neighbours()
        family = Family(program.pid)
        self._follow(program, family, neighbours)
        program.release_signals()
        if self._window is None or self._window.failed or not self._window.done:
            self._tell_signal(program)
        if self._window:
            self._window.finish()
        self._tell_neighbour(neighbours)
        self._tell_processor()
        failed = False
        with contextlib.suppress(OSError, KeyboardInterrupt):
            failed = conclusion.tell(self._target, family, wanted, hung=self._killed)
        assert program.wait_status is not None
        if self._killed:
            return EXIT_FINDING
        status = end_as(program.wait_status)
        return EXIT_FINDING if failed and status == 0 else status

    def _follow(
        self, program: Foreground, family: Family, neighbours: Neighbours
    ) -> None:
        watch = hang.HangWatch(self._traces)
        longest = LONGEST_PAUSE
        if self._hang_after is not None:
            longest = min(longest, self._hang_after / HANG_LOOKS)
        pause = FIRST_LOOK
        next_look = time.monotonic() + pause
        recorded = False
        while program.wait_status is None:
            left = next_look - time.monotonic()
            if self._window:
                left = min(left, self._window.seconds_left())
            if program.turn(left):
                watch.tell()
                program.answered()
            if self._window:
                self._window.turn()
            if time.monotonic() < next_look:
                continue
            neighbours.look()
            pause = min(2 * pause, longest)
            next_look = time.monotonic() + pause
            # With a trace, there is no need to explain its absence.
            recorded = recorded or bool(self._traces())
            if not recorded:
                family.look()
            elif (
                self._hang_after is not None
                and watch.hangs(self._hang_after)
                and self._kills
            ):
                self._kill(program)

    def _traces(self) -> list[files.Trace]:
        return files.of_session(self._target.trace, self._target.session)

    def _tell_signal(self, program: Foreground) -> None:
        """Write to the trace which signal killed the program."""
        status = program.wait_status
        if status is None or not os.WIFSIGNALED(status):
            return
        for trace in self._traces():
            if trace.pid == program.pid and not trace.complete:
                files.tell_signal(trace, os.WTERMSIG(status))

    def _tell_neighbour(self, neighbours: Neighbours) -> None:
        """Write to the traces which other program used most CPU time."""
        traces = self._traces()
        name = Path(self._target.path).name[:COMM]
        busiest = neighbours.busiest(name, {trace.pid for trace in traces})
        if busiest is None:
            return
        for trace in traces:
            files.tell_neighbour(trace, busiest.name, busiest.cpus)

    def _tell_processor(self) -> None:
        """Write to the traces on which processor they were made."""
        processor = host.processor()
        for trace in self._traces():
            files.tell_processor(trace, processor)

    def _kill(self, program: Foreground) -> None:
        """Kill the program and its descendants; a deadlock may survive SIGTERM."""
        self._killed = True
        members = list(descendants(program.pid))
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in members:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
            deadline = time.monotonic() + GRACE
            while program.wait_status is None and time.monotonic() < deadline:
                program.turn(deadline - time.monotonic())
