# SPDX-License-Identifier: MIT
"""`hasp study plan`: what a plan would run."""

from __future__ import annotations

import argparse

from hasp.cli.study_actions.common import add_plan_options

HELP = "what a plan would run here, and how long that takes"
configure = add_plan_options


def run(arguments: argparse.Namespace) -> int:
    """What is left to do, program by program."""
    from hasp.study.batch import show
    from hasp.study.campaign import load

    show(load(arguments.plan), arguments.store, arguments.machine)
    return 0
