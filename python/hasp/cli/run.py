# SPDX-License-Identifier: MIT
"""`hasp run`: start a program under a lock, and become it."""

from __future__ import annotations

import argparse
import os
import signal

from hasp.base.errors import HaspError

NAME = "run"
HELP = "run a program under a lock"

EXAMPLES = """\
examples:
  hasp run -- ./server -p 8080              the default lock
  hasp run --lock mcs -- ./server -p 8080   another one; `hasp list` names them
  hasp run --lock glibc -- ./server         natively, nothing preloaded
  hasp run --plan hasp.plan.toml -- ./server    a lock for each site, as planned

The program takes Hasp's place: exit status, input, output and signals are its own, and
its children run under the same lock. A program that cannot be interposed is refused
with status 2 and a reason: statically linked, set-user-ID, 32-bit, musl.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `hasp run`."""
    parser.usage = "hasp run [--lock LOCK | --plan FILE] [--] COMMAND..."
    parser.epilog = EXAMPLES
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-l", "--lock", metavar="LOCK", help="a lock of `hasp list` (default: futex)"
    )
    which.add_argument(
        "--plan",
        metavar="FILE",
        help="a lock for each site, from a plan such as `hasp advise` writes; entries "
        "that match nothing are told on stderr",
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS
    )


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the program; returns only by an error."""
    from hasp.launch import executable, interpose
    from hasp.locks import native

    command: list[str] = arguments.command
    if not command:
        raise HaspError(
            "which program should run?", "for example: hasp run --lock mcs -- ls -l"
        )
    lock = arguments.lock or native.default_lock().name
    if arguments.plan:
        lock = native.PLAN + arguments.plan
    base = interpose.original_environment()
    environment = interpose.environment(lock, base, command)
    if arguments.plan:
        environment["HASP_PLAN_REPORT"] = "1"
    path = executable.to_execute(command[0], base)
    # Python ignores these two signals; the program must start with them as usual.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execve(path, command, environment)
    except OSError as problem:
        raise HaspError(
            f"{path} cannot be started: {problem.strerror}",
            "see whether it runs without Hasp",
        ) from None
