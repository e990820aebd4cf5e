# SPDX-License-Identifier: MIT
"""Options for recording, of the verbs `profile` and `top`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.sizes import size_argument
from hasp.cli.algorithms import add_algorithm_options, chosen_algorithms

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
    add_algorithm_options(parser, "glibc's")
    add(
        "--limit",
        metavar="SIZE",
        type=size_argument,
        default="256M",
        help="maximum size of a trace [%(default)s]",
    )


def recording_options(arguments: argparse.Namespace) -> Options:
    """Return the options for recording; raise HaspError for a wrong lock or plan."""
    from hasp.profile.record.target import Options

    return Options(
        command=arguments.command,
        trace=Path(arguments.trace),
        lock=chosen_algorithms(arguments),
        sample=arguments.sample,
        limit=arguments.limit,
    )
