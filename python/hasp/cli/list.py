# SPDX-License-Identifier: MIT
"""`hasp list`: prints the algorithms of locks and their properties."""

from __future__ import annotations

import argparse

from hasp.base.output import add_json_option
from hasp.locks.selection import PROPERTIES, add_locks_option, option_of

NAME = "list"
HELP = "list the lock algorithms and their properties"

EXAMPLES = """\
examples:
  hasp list
  hasp list --fifo --parks          the locks with both properties
  hasp list --category hierarchical
  hasp list mcs-park clh-park       the details of two locks
  hasp list --kind rwlock           reader-writer locks
  hasp list --kind executor         executors of delegated sections
  hasp list --locks fifo,numa       the locks with one of these properties
  hasp list gcr+mcs                 a lock wrapped for concurrency restriction
  hasp list --json                  JSON lines
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp list`."""
    parser.usage = "hasp list [NAME...] [options]"
    parser.epilog = EXAMPLES
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="locks to show in detail"
    )
    parser.add_argument(
        "--kind",
        metavar="KIND",
        help="only algorithms of a kind: mutex, rwlock, spinlock, barrier, executor",
    )
    filters = parser.add_argument_group("filters (locks must pass all of them)")
    for name, (_, words) in PROPERTIES.items():
        filters.add_argument(
            option_of(name),
            dest="properties",
            action="append_const",
            const=name,
            help=words,
        )
    filters.add_argument(
        "--category", metavar="NAME", help="one family, such as direct-handoff"
    )
    add_locks_option(parser)
    parser.add_argument(
        "--wide", action="store_true", help="print the details of each lock"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, the details, or the JSON lines."""
    from hasp.locks.listing import Options, list_locks

    return list_locks(
        Options(
            words=",".join(arguments.names) or arguments.locks,
            kind=arguments.kind,
            properties=arguments.properties or (),
            category=arguments.category,
            details=arguments.wide or bool(arguments.names),
            json=arguments.json,
        )
    )
