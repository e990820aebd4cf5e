# SPDX-License-Identifier: MIT
"""Prepares a command to be started with the recorder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.sizes import format_size
from hasp.launch import executable, interpose
from hasp.locks.given import NATIVE, SEPARATOR, Algorithms
from hasp.locks.kinds import KINDS, MUTEX
from hasp.profile.record import files

LEAST_LIMIT = 1 << 20  # bytes; the tables of a few threads do not fit into less
DEFAULT_LIMIT = 256 << 20


@dataclass(frozen=True)
class Options:
    """The options for recording that `profile` and `top` share."""

    command: list[str]
    trace: Path
    lock: Algorithms = NATIVE
    sample: bool = False
    limit: int = DEFAULT_LIMIT  # bytes


@dataclass(frozen=True)
class Target:
    """A command, ready to be started with the recorder."""

    command: list[str]
    path: str  # of the program
    environment: dict[str, str]
    trace: Path
    session: int


def settings_of(
    trace: Path,
    session: int,
    lock: Algorithms,
    *,
    sample: bool,
    limit: int = DEFAULT_LIMIT,
) -> dict[str, str]:
    """Return the recorder's environment variables."""
    others = [lock.of(kind) for kind in KINDS if kind is not MUTEX]
    return {
        "HASP_TRACE": str(trace.absolute()),
        "HASP_TRACE_SESSION": f"{session:016x}",
        "HASP_TRACE_MODE": "sample" if sample else "full",
        "HASP_TRACE_LIMIT": str(limit),
        "HASP_TRACE_LOCK": lock.name if lock.plan else lock.of(MUTEX),
        "HASP_TRACE_OTHER_LOCKS": SEPARATOR.join(others),
    }


def prepare(options: Options) -> Target:
    """Check everything and remove old traces; raise HaspError for problems."""
    if options.limit < LEAST_LIMIT:
        raise HaspError(
            f"a trace of {format_size(options.limit)} is too small",
            f"give --limit at least {format_size(LEAST_LIMIT)}",
        )
    trace = options.trace.absolute()
    session = files.new_session()
    base = interpose.original_environment()
    settings = settings_of(
        trace, session, options.lock, sample=options.sample, limit=options.limit
    )
    environment = interpose.environment(options.lock, base, options.command, settings)
    path = executable.to_execute(options.command[0], base)
    files.clear(trace)
    return Target(options.command, path, environment, trace, session)
