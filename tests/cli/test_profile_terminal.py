# SPDX-License-Identifier: MIT
"""Tests `hasp profile` with Ctrl-C, Ctrl-Z, Ctrl-\\ and `fg`, on a real pty."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator

import pytest

# Does what a shell does for a job: gives it a process group of its own and the
# terminal. Reports on descriptor 3 how the job's state changes, and takes SIGUSR1 as
# `fg` once the job has stopped. SIGUSR1 is waited for, not handled: Python would run a
# handler only after waitpid if the signal came just before that call.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
def say(*words):
    os.write(3, (" ".join(map(str, words)) + "\\n").encode())
job = os.posix_spawn(sys.executable, [sys.executable, *sys.argv[1:]], os.environ,
                     setpgroup=0, setsigmask=[], setsigdef=[signal.SIGTTOU])
os.tcsetpgrp(0, job)
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        break
    say("stopped", os.WSTOPSIG(status))
    signal.sigwait([signal.SIGUSR1])
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
say("ended", os.waitstatus_to_exitcode(status))
"""
HASP = "import sys; from hasp.cli.main import main; sys.exit(main())"
# Prints when it is ready and which signals it gets, and reads from the terminal. Each
# message is a single write, because Hasp writes to the terminal at the same time. It
# waits briefly each time: a signal just before a read would be handled only after it.
PROGRAM = """
import os, select, signal, sys
def say(*words):
    os.write(1, (" ".join(words) + "\\n").encode())
def got(number, _):
    say("got", signal.Signals(number).name)
handled = [signal.Signals[name] for name in sys.argv[1:]]
for number in handled:
    signal.signal(number, got)
say("ready")
while True:
    if not select.select([0], [], [], 0.1)[0]:
        continue
    line = os.read(0, 1000).decode()
    if not line:
        break
    for word in line.split():
        say("read", word)
        if word == "end":
            sys.exit(5)
"""


class Terminal:
    """A terminal in which a shell runs, and the shell's reports on its job."""

    def __init__(self, environment: dict[str, str], folder: str, *words: str) -> None:
        reader, writer = os.pipe()
        self.shell, self.screen = pty.fork()
        if self.shell == 0:
            os.chdir(folder)
            # Otherwise a typed signal makes the terminal discard pending output.
            settings = termios.tcgetattr(0)
            settings[3] |= termios.NOFLSH
            termios.tcsetattr(0, termios.TCSANOW, settings)
            os.dup2(writer, 3)
            argv = [sys.executable, "-c", SHELL, "-c", HASP, "profile", "--"]
            program = [sys.executable, "-c", PROGRAM, *words]
            os.execve(sys.executable, [*argv, *program], environment)
        os.close(writer)
        self.news = reader
        self.text = ""

    def until(self, descriptor: int, words: str) -> str:
        """Read until `words` appear, and return everything that was read."""
        text, deadline = "", time.monotonic() + 20
        while words not in text:
            ready, _, _ = select.select([descriptor], [], [], 0.2)
            assert time.monotonic() < deadline, text
            if ready:
                try:
                    text += os.read(descriptor, 65536).decode()
                except OSError:
                    break  # the last process of the terminal has ended
        assert words in text, text
        return text

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())


@pytest.fixture
def terminal(environment, tmp_path) -> Iterator[Callable[..., Terminal]]:
    made = []

    def make(*words: str) -> Terminal:
        made.append(Terminal(environment, str(tmp_path), *words))
        made[-1].until(made[-1].screen, "ready")
        return made[-1]

    yield make
    for one in made:
        os.close(one.screen)  # hangs up, so programs that still run there get SIGHUP
        os.close(one.news)
        os.kill(one.shell, signal.SIGKILL)
        os.waitpid(one.shell, 0)


def test_ctrl_c_reaches_the_program_once(terminal):
    at = terminal("SIGINT")
    at.type("\x03")
    text = at.until(at.screen, "got SIGINT")
    time.sleep(0.2)  # a second signal would arrive within this time
    at.type("end\n")
    text += at.until(at.screen, "hasp:")
    assert text.count("got SIGINT") == 1
    at.until(at.news, "ended 5")


def test_ctrl_c_ends_both(terminal):
    at = terminal()
    at.type("\x03")
    at.until(at.news, f"ended {-signal.SIGINT}")


def test_ctrl_z_and_fg(terminal):
    at = terminal()
    for _ in range(2):
        at.type("\x1a")
        at.until(at.news, f"stopped {int(signal.SIGTSTP)}")
        os.kill(at.shell, signal.SIGUSR1)
        at.type("again\n")
        at.until(at.screen, "read again")
    at.type("end\n")
    at.until(at.news, "ended 5")


def test_ctrl_z_does_not_stop_hasp_if_the_program_ignores_it(terminal):
    at = terminal("SIGTSTP")
    at.type("\x1a")
    at.until(at.screen, "got SIGTSTP")
    at.type("end\n")
    assert at.until(at.news, "ended") == "ended 5\n"


def test_ctrl_backslash_prints_waits_and_does_not_reach_the_program(terminal):
    at = terminal()
    at.type("\x1c")
    at.until(at.screen, "waiting threads")
    at.type("end\n")
    at.until(at.news, "ended 5")


def test_a_second_ctrl_backslash_ends_the_program(terminal):
    at = terminal()
    at.type("\x1c")
    at.until(at.screen, "waiting threads")
    at.type("\x1c")
    at.until(at.news, f"ended {-signal.SIGABRT}")


def test_a_program_with_a_handler_for_sigquit_gets_it(terminal):
    at = terminal("SIGQUIT")
    at.type("\x1c")
    at.until(at.screen, "got SIGQUIT")
    at.type("end\n")
    at.until(at.news, "ended 5")
