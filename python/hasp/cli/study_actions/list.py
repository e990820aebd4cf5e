# SPDX-License-Identifier: MIT
"""`hasp study list`: list the contents of a store."""

from __future__ import annotations

import argparse

from hasp.base.output import add_json_option
from hasp.cli.study_actions.common import add_store_option

HELP = "list the batches of a store"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study list`."""
    add_store_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the batches of a store."""
    from hasp.study.catalogue import show_batches

    show_batches(arguments.store, arguments.json)
    return 0
