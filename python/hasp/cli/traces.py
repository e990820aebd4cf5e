# SPDX-License-Identifier: MIT
"""Options of the verbs that read a trace: `report` and `advise`."""

from __future__ import annotations

import argparse


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Add TRACE and --process."""
    add = parser.add_argument
    add("trace", nargs="?", metavar="TRACE", help="a trace written by `hasp profile`")
    add(
        "--process",
        metavar="PID|N",
        help="another process of the run: a process id, or the number of a trace file",
    )
