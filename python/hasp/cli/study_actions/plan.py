# SPDX-License-Identifier: MIT
"""`hasp study plan`: the runs that a campaign still needs."""

from __future__ import annotations

import argparse

from hasp.cli.study_actions.common import add_campaign_options

HELP = "show the remaining runs of a campaign and their duration"
configure = add_campaign_options


def run(arguments: argparse.Namespace) -> int:
    """Print the number of remaining runs of each program."""
    from hasp.study.batch import show
    from hasp.study.campaign import load

    show(load(arguments.campaign), arguments.store, arguments.machine)
    return 0
