# SPDX-License-Identifier: MIT
"""`hasp run`: run a program under a lock algorithm."""

from __future__ import annotations

import argparse
import os
import signal
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.cli.algorithms import (
    USUAL,
    add_algorithm_options,
    combined,
    named_algorithms,
    only,
)

if TYPE_CHECKING:
    from hasp.locks.given import Algorithms

NAME = "run"
HELP = "run a program under other lock algorithms"

EXAMPLES = """\
examples:
  hasp run -- ./server -p 8080              the default lock
  hasp run --lock mcs -- ./server -p 8080   another one from `hasp list`
  hasp run --lock glibc -- ./server         natively, nothing preloaded
  hasp run --rwlock phase-fair -- ./server  mutexes stay glibc's
  hasp run --lock mcs --barrier tournament -- ./solver
  hasp run --plan hasp.plan.toml -- ./server    an algorithm for each site

The program replaces Hasp, so exit status, input, output and signals are its own. Its
children run under the same lock. Programs that cannot be interposed (statically
linked, set-user-ID, 32-bit, musl) are refused with status 2 and a reason.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp run`."""
    parser.usage = (
        "hasp run [--lock LOCK] [--rwlock ALGORITHM] [--spinlock ALGORITHM]\n"
        "                [--barrier ALGORITHM] [--only KINDS] [--] COMMAND...\n"
        "       hasp run --plan FILE [--] COMMAND..."
    )
    parser.epilog = EXAMPLES
    add_algorithm_options(parser, "futex, unless another kind is named")
    parser.add_argument(
        "--only",
        metavar="KINDS",
        help="replace these kinds only, separated by commas: mutexes, rwlocks, "
        "spinlocks, barriers; those without an option get the default of their list",
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS
    )


def run(arguments: argparse.Namespace) -> int:
    """Execute the program in place of this process; raise HaspError if that fails."""
    from hasp.launch import executable, interpose

    command: list[str] = arguments.command
    if not command:
        raise HaspError(
            "which program should run?", "for example: hasp run --lock mcs -- ls -l"
        )
    chosen = _chosen(arguments)
    base = interpose.original_environment()
    environment = interpose.environment(chosen, base, command)
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


def _chosen(arguments: argparse.Namespace) -> Algorithms:
    """Return the algorithms: the named ones, or the usual ones if none is named."""
    named = named_algorithms(arguments)
    if arguments.only is None:
        if named or arguments.plan:
            return combined(named, arguments.plan)
        return only(",".join(kind.plural for kind in USUAL), {})
    if arguments.plan:
        raise HaspError(
            "--only and --plan cannot be combined",
            "remove the entries of the other kinds from the plan",
        )
    return only(arguments.only, named)
