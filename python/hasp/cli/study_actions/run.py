# SPDX-License-Identifier: MIT
"""`hasp study run`: a plan's runs, here or on another machine."""

from __future__ import annotations

import argparse

from hasp.cli.study_actions.common import add_plan_options

HELP = "carry a plan out, or go on with it"


def configure(parser: argparse.ArgumentParser) -> None:
    """The plan, the store, and where it runs."""
    from hasp.study.slurm_settings import add_options

    add_plan_options(parser)
    parser.add_argument(
        "--on",
        metavar="PLACE",
        help="simulated:MACHINE (`hasp simulate --list`) or slurm (default: here)",
    )
    add_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Carry it out; Ctrl-C leaves a store that can be used and gone on with."""
    from hasp.study.campaign import load
    from hasp.study.executors import carry_out

    return carry_out(load(arguments.plan), arguments)
