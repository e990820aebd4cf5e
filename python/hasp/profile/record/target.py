# SPDX-License-Identifier: MIT
"""The options for recording that `profile` and `top` share."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.sizes import format_size, size_argument
from hasp.locks.given import given_lock, given_plan
from hasp.locks.native import REFERENCE

LEAST_LIMIT = 1 << 20  # bytes; the tables of a few threads do not fit into less
DEFAULT_LIMIT = 256 << 20
DEFAULT_TRACE = "hasp.trace"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for recording."""
    add = parser.add_argument
    add(
        "--sample",
        action="store_true",
        help="record one uncontended acquisition in many, and all contended ones",
    )
    add(
        "--plan",
        metavar="FILE",
        help="run under the algorithms of a plan file, as `hasp run --plan` does",
    )
    add(
        "-l",
        "--lock",
        metavar="LOCK",
        help="run under a lock algorithm of `hasp list` (default: glibc's)",
    )
    add(
        "--limit",
        metavar="SIZE",
        type=size_argument,
        default="256M",
        help="maximum size of a trace [%(default)s]",
    )


@dataclass(frozen=True)
class Target:
    """A command, ready to be started with the recorder."""

    command: list[str]
    path: str  # of the program
    environment: dict[str, str]
    trace: Path
    session: int


def settings_of(
    trace: Path, session: int, lock: str, *, sample: bool, limit: int = DEFAULT_LIMIT
) -> dict[str, str]:
    """Return the recorder's environment variables."""
    return {
        "HASP_TRACE": str(trace.absolute()),
        "HASP_TRACE_SESSION": f"{session:016x}",
        "HASP_TRACE_MODE": "sample" if sample else "full",
        "HASP_TRACE_LIMIT": str(limit),
        "HASP_TRACE_LOCK": lock,
    }


def prepare(arguments: argparse.Namespace) -> Target:
    """Check everything and remove old traces; raise HaspError for problems."""
    from hasp.launch import executable, interpose
    from hasp.profile.record import files

    if arguments.limit < LEAST_LIMIT:
        raise HaspError(
            f"a trace of {format_size(arguments.limit)} is too small",
            f"give --limit at least {format_size(LEAST_LIMIT)}",
        )
    if arguments.plan and arguments.lock:
        raise HaspError(
            "--lock and --plan cannot be combined", "a plan names its default"
        )
    lock = (
        given_plan(arguments.plan)
        if arguments.plan
        else given_lock(arguments.lock or REFERENCE)
    )
    trace = Path(arguments.trace).absolute()
    session = files.new_session()
    base = interpose.original_environment()
    settings = settings_of(
        trace, session, lock.name, sample=arguments.sample, limit=arguments.limit
    )
    command: list[str] = arguments.command
    environment = interpose.environment(lock, base, command, settings)
    path = executable.to_execute(command[0], base)
    files.clear(trace)
    return Target(command, path, environment, trace, session)
