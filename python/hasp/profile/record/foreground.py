# SPDX-License-Identifier: MIT
"""Run a program in the foreground under Hasp, as transparently as possible.

The program stays in Hasp's process group, so it owns the terminal, and Ctrl-C and
Ctrl-Z reach it directly. Hasp waits for signals instead of handling them: the kernel
reports the sender of each, and signals from the terminal have already reached the
program.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.process import PYTHON_IGNORES, exit_status

FORWARDED = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
    *(signal.SIGUSR1, signal.SIGUSR2),
)
AWAITED = (*FORWARDED, signal.SIGCHLD, signal.SIGQUIT, signal.SIGTSTP)
STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
SENT_BY_THE_KERNEL = 0x80  # SI_KERNEL: these signals come from the terminal
SECOND_QUIT = 2.0  # seconds within which a second SIGQUIT goes to the program
SET_DUMPABLE = 4  # of prctl(2)


def _has_terminal() -> bool:
    """Return true if terminal keys can send signals to our process group."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


def keep_signals() -> set[int]:
    """Block signals until they are waited for; return the previous mask.

    This must happen before libraries start threads: the kernel would deliver signals to
    these, and only later threads inherit the mask.
    """
    # Restore the default; otherwise the exit of the program would go unnoticed.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED))


class Foreground:
    """Runs the program and forwards signals until it ends.

    SIGQUIT makes Hasp print which thread waits for which. The terminal also sends it to
    the program, which is therefore started with SIGQUIT ignored, as `nohup` does with
    SIGHUP. Without a terminal the signal's action is left unchanged.
    """

    def __init__(
        self,
        path: str,
        argv: Sequence[str],
        environment: Mapping[str, str],
        inherited: Iterable[int],
    ) -> None:
        """Start it; `inherited` is the mask that `keep_signals` returned."""
        self.wait_status: int | None = None
        self._answered = -SECOND_QUIT
        self._inherited = inherited
        quit_handler = signal.getsignal(signal.SIGQUIT)
        if _has_terminal():
            signal.signal(signal.SIGQUIT, signal.SIG_IGN)
        try:
            self.pid = os.posix_spawn(
                path,
                list(argv),
                environment,
                setsigmask=self._inherited,
                setsigdef=PYTHON_IGNORES,
            )
        except OSError as problem:
            raise HaspError(
                f"{path} cannot be started: {problem.strerror}",
                "check that it runs without Hasp",
            ) from None
        finally:
            signal.signal(signal.SIGQUIT, quit_handler)
            if not hasattr(self, "pid"):
                signal.pthread_sigmask(signal.SIG_SETMASK, self._inherited)

    def turn(self, seconds: float) -> bool:
        """Wait up to `seconds` for one signal; return True if the user sent SIGQUIT."""
        got = signal.sigtimedwait(AWAITED, max(0.0, seconds))
        if got is None:
            self._look()
            return False
        if got.si_signo == signal.SIGCHLD:
            self._look()
        elif got.si_signo == signal.SIGQUIT:
            return self._asked()
        elif got.si_signo in FORWARDED and got.si_code != SENT_BY_THE_KERNEL:
            self.send(got.si_signo)
        # SIGTSTP has reached the program too; Hasp stops when the program stops.
        return False

    def send(self, number: int) -> None:
        """Send a signal to the program, unless it has ended."""
        if self.wait_status is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, number)

    def release_signals(self) -> None:
        """Restore signals: Ctrl-C may interrupt Hasp after the program has ended."""
        while signal.sigtimedwait(AWAITED, 0) is not None:
            pass  # the signal was meant for the program
        signal.pthread_sigmask(signal.SIG_SETMASK, self._inherited)

    def answered(self) -> None:
        """Record that Hasp has answered a SIGQUIT."""
        self._answered = time.monotonic()

    def _asked(self) -> bool:
        if time.monotonic() - self._answered > SECOND_QUIT:
            return True
        # A program that ignores SIGQUIT because of Hasp is ended as SIGQUIT would, with
        # a core dump.
        ignored = signal.SIGQUIT in _ignored(self.pid)
        self.send(signal.SIGABRT if ignored else signal.SIGQUIT)
        return False

    def _look(self) -> None:
        """Return true if it has ended or stopped; several SIGCHLD may have merged."""
        stopped_with_it = False
        while self.wait_status is None:
            kinds = os.WNOHANG | os.WUNTRACED | os.WCONTINUED
            pid, status = os.waitpid(self.pid, kinds)
            if pid == 0:
                # Each change is reported once, so the program is still stopped and only
                # Hasp was continued.
                if stopped_with_it:
                    self.send(signal.SIGCONT)
                return
            if os.WIFCONTINUED(status):
                stopped_with_it = False
            elif not os.WIFSTOPPED(status):
                self.wait_status = status
            elif os.WSTOPSIG(status) in STOPS:
                self._stop_too(os.WSTOPSIG(status))
                stopped_with_it = True

    def _stop_too(self, number: int) -> None:
        """Stop as the program did, so that the shell takes the terminal back."""
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        # The shell runs here until `fg` or `bg` continues the group.
        if number in AWAITED:
            signal.pthread_sigmask(signal.SIG_BLOCK, [number])


def _status_field(pid: int, name: str) -> str:
    try:
        text = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return ""
    return next(
        (
            line.partition(":")[2].strip()
            for line in text.splitlines()
            if line.startswith(f"{name}:")
        ),
        "",
    )


def _ignored(pid: int) -> set[int]:
    """Return the signals that a process ignores."""
    mask = int(_status_field(pid, "SigIgn") or "0", 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


def is_stopped(pid: int) -> bool:
    """Return true if a signal or a debugger has stopped the process."""
    return _status_field(pid, "State")[:1] in ("T", "t")


def end_as(wait_status: int) -> int:
    """End as the program did; return the exit status if no signal ends this process."""
    if os.WIFSIGNALED(wait_status):
        number = os.WTERMSIG(wait_status)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        # Suppress our own core dump; only the program's is useful.
        ctypes.CDLL(None).prctl(SET_DUMPABLE, 0, 0, 0, 0)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    return exit_status(wait_status)
