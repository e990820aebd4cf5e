# SPDX-License-Identifier: MIT
"""`hasp run`: run a program under a lock algorithm."""

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
  hasp run --lock mcs -- ./server -p 8080   another one from `hasp list`
  hasp run --lock glibc -- ./server         natively, nothing preloaded
  hasp run --plan hasp.plan.toml -- ./server    a lock for each site

The program replaces Hasp, so exit status, input, output and signals are its own. Its
children run under the same lock. Programs that cannot be interposed (statically
linked, set-user-ID, 32-bit, musl) are refused with status 2 and a reason.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp run`."""
    parser.usage = "hasp run [--lock LOCK | --plan FILE] [--] COMMAND..."
    parser.epilog = EXAMPLES
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-l", "--lock", metavar="LOCK", help="a lock of `hasp list` (default: futex)"
    )
    which.add_argument(
        "--plan",
        metavar="FILE",
        help="a lock for each site, from a plan as written by `hasp advise`; entries "
        "that match no mutex are reported on stderr",
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS
    )


def run(arguments: argparse.Namespace) -> int:
    """Execute the program in place of this process; raise HaspError if that fails."""
    from hasp.launch import executable, interpose
    from hasp.locks import native
    from hasp.locks.given import GivenLock, given_lock, given_plan

    command: list[str] = arguments.command
    if not command:
        raise HaspError(
            "which program should run?", "for example: hasp run --lock mcs -- ls -l"
        )
    lock: GivenLock = native.default_lock()
    if arguments.plan:
        lock = given_plan(arguments.plan)
    elif arguments.lock:
        lock = given_lock(arguments.lock)
    base = interpose.original_environment()
    environment = interpose.environment(lock, base, command)
    if arguments.plan:
        environment["HASP_PLAN_REPORT"] = "1"
    path = executable.to_execute(command[0], base)
    # Python ignores these two signals; the program needs their default actions.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execve(path, command, environment)
    except OSError as problem:
        raise HaspError(
            f"cannot start {path}: {problem.strerror}",
            "check whether it runs without Hasp",
        ) from None
