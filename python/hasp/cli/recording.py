# SPDX-License-Identifier: MIT
"""Options for recording, of the verbs `profile` and `top`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.base.sizes import size_argument

if TYPE_CHECKING:
    from hasp.profile.record.target import Options

DEFAULT_TRACE = "hasp.trace"


def add_recording_options(parser: argparse.ArgumentParser) -> None:
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


def recording_options(arguments: argparse.Namespace) -> Options:
    """Return the options for recording; raise HaspError for a wrong lock or plan."""
    from hasp.locks.given import given_lock, given_plan
    from hasp.profile.record.target import Options

    if arguments.plan and arguments.lock:
        raise HaspError(
            "--lock and --plan cannot be combined", "a plan names its default"
        )
    lock = given_lock(arguments.lock) if arguments.lock else None
    return Options(
        command=arguments.command,
        trace=Path(arguments.trace),
        lock=given_plan(arguments.plan) if arguments.plan else lock,
        sample=arguments.sample,
        limit=arguments.limit,
    )
