# SPDX-License-Identifier: MIT
"""`hasp study`: measure locks x programs x machines, and compute their statistics."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import Protocol, cast

NAME = "study"
HELP = "measure locks x programs x machines, and print the tables"

# The actions in the order of `hasp study --help`; each is a module of study_actions.
ACTIONS = ("library", "plan", "run", "fetch", "add", "list", "table", "report", "diff")

EXAMPLES = """\
examples:
  hasp study library --write studies/locks.toml
  hasp study plan studies/locks.toml --store runs
  hasp study run studies/locks.toml --store runs
  hasp study run studies/locks.toml --store runs --on simulated:xeon-80
  hasp study run studies/locks.toml --store runs --on slurm --jobs 4
  hasp study fetch --store published
  hasp study add --store runs --machine A-64 A64.csv
  hasp study list --store runs
  hasp study table sensitivity --store runs --machine A-64
  hasp study table pairwise --store runs --machine A-64 --at max --csv
  hasp study table harmful --store runs --machine A-64,A-48
  hasp study table correlation --store runs --machine I-48 --with tpp
  hasp study report --store runs --html report.html
  hasp study diff before after --fail-if-worse

A CSV file has one line for each run: the program (column `program` or `bench`), the
lock (`lock` or `strategy`), the size (`threads`, `nodes` or `node`), and one column for
each metric, where higher is better.
"""


class Action(Protocol):
    """The interface of the modules of study_actions."""

    HELP: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def load(name: str) -> Action:
    """Import the module of an action."""
    return cast(Action, importlib.import_module(f"hasp.cli.study_actions.{name}"))


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `hasp study` and their options."""
    parser.usage = f"hasp study {{{','.join(ACTIONS)}}} [options]"
    parser.epilog = EXAMPLES
    verbs = parser.add_subparsers(
        prog="hasp study", dest="action", required=True, metavar="ACTION"
    )
    for name in ACTIONS:
        action = load(name)
        action.configure(
            verbs.add_parser(
                name,
                help=action.HELP,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    return load(arguments.action).run(arguments)
