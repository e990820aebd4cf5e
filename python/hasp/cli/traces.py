# SPDX-License-Identifier: MIT
"""Which trace a verb is about: what `report` and `advise` are told alike."""

from __future__ import annotations

import argparse


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """TRACE and --process."""
    add = parser.add_argument
    add("trace", nargs="?", metavar="TRACE", help="what `hasp profile` wrote")
    add(
        "--process",
        metavar="PID|N",
        help="another process of the run: its process id, or the number of its file",
    )
