# SPDX-License-Identifier: MIT
"""`hasp check`: model-check the shipped code under weak memory."""

from __future__ import annotations

import argparse
import shlex
import sys

from hasp.base.durations import duration_argument
from hasp.base.output import add_json_option
from hasp.lab.check.subjects import KIND_NAMES, choose
from hasp.locks.selection import add_locks_option

NAME = "check"
HELP = "model-check the locks: all schedules, weak memory, lost wake-ups"

EXAMPLES = """\
examples:
  hasp check                                every lock, some minutes
  hasp check --quick                        every lock, in a minute or two
  hasp check --locks mcs,futex --time-limit 60s
  hasp check --locks clh --client timeout --preemptions 3
  hasp check --kind rwlock                  every reader-writer lock
  hasp check --kind executor --locks ffwd   an executor of delegated sections
  hasp check --kind channel                 the messages of hasp/channel.h
  hasp check --list-clients                 the programs that check each lock
  hasp check --json results.jsonl

Each client is a program of two to four threads. Its schedules are searched in the order
of their preemptions, until all are done or the bound or time limit is reached; the
table shows how far the search went. A finding is shown as the steps that lead to it.
docs/checking.md describes the assumptions of the model.

exit status: 0 no finding; 1 a lock is wrong; 2 usage; 130 after Ctrl-C, with the
results so far.
"""

QUICK_PREEMPTIONS, QUICK_SECONDS, SECONDS = 1, 0.5, 4.0


def _bound(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdecimal() or int(text) > 100:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor `all`")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1000")
    return int(text)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `hasp check`."""
    parser.usage = "hasp check [options]"
    parser.epilog = EXAMPLES
    add_locks_option(parser)
    parser.set_defaults(locks=None)
    add = parser.add_argument
    add(
        "--kind",
        choices=KIND_NAMES,
        metavar="KIND",
        help=f"{', '.join(KIND_NAMES[:-1])} or {KIND_NAMES[-1]} (default: all kinds, "
        "or mutexes if --locks is given)",
    )
    add("--client", metavar="NAME", default="all", help="one client only")
    add(
        "--preemptions",
        metavar="N",
        type=_bound,
        default=None,
        help="explore schedules with at most N preemptions, or `all` (default)",
    )
    add(
        "--time-limit",
        metavar="TIME",
        type=duration_argument,
        default=None,
        help=f"CPU time for each lock and client (default: {SECONDS:g}s)",
    )
    add("--quick", action="store_true", help="one preemption, half a second each")
    add("--jobs", metavar="N", type=_positive, help="locks at a time (default: CPUs)")
    add("--list-clients", action="store_true", help="list the clients")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the checks and print the findings, even if interrupted."""
    from hasp.base.output import check_writable
    from hasp.lab.check.run import Options, check_all, list_clients

    if arguments.json:
        check_writable(arguments.json)
    if arguments.list_clients:
        return list_clients(arguments.json)
    bound = arguments.preemptions
    if arguments.quick and bound is None:
        bound = QUICK_PREEMPTIONS
    return check_all(
        Options(
            subjects=choose(arguments.kind, arguments.locks),
            client=arguments.client,
            preemptions=bound,
            seconds=arguments.time_limit
            or (QUICK_SECONDS if arguments.quick else SECONDS),
            jobs=arguments.jobs,
            json=arguments.json,
            command=shlex.join(["hasp", *sys.argv[1:]]),
        )
    )
