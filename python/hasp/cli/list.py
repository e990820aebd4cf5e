# SPDX-License-Identifier: MIT
"""`hasp list`: which locks there are, and how they behave."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from hasp.native import LockInfo
from hasp.output import add_json_option
from hasp.selection import PROPERTIES, add_locks_option

NAME = "list"
HELP = "list the locks, their properties and what to beware of"
SCHEMA = "hasp.list/1"

EXAMPLES = """\
examples:
  hasp list
  hasp list --locks fifo,numa       the locks with one of these properties
  hasp list --locks mcs-park        one lock
  hasp list --json                  for programs
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `hasp list`."""
    words = "\n".join(f"  {name:9} {words}" for name, (_, words) in PROPERTIES.items())
    parser.epilog = f"properties:\n{words}\n\n{EXAMPLES}"
    add_locks_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, or the JSON lines."""
    from hasp import output
    from hasp.selection import select

    chosen = select(arguments.locks)
    if arguments.json:
        records = ({"schema": SCHEMA, **record_of(lock)} for lock in chosen)
        output.write_json(records, arguments.json)
        return 0
    print_table(chosen)
    return 0


def record_of(lock: LockInfo) -> dict[str, object]:
    """One lock as a JSON object."""
    return {**asdict(lock), "collapses_oversubscribed": lock.collapses}


def print_table(chosen: list[LockInfo]) -> None:
    """The locks as a table of 80 columns, with the warnings in words below."""
    from hasp import output

    console = output.console()
    table = output.table()
    table.add_column("lock", no_wrap=True)
    table.add_column("waiting", no_wrap=True)
    table.add_column("order", no_wrap=True)
    table.add_column("what it is")
    for lock in chosen:
        mark = " *" if lock.default else ""
        table.add_row(f"{lock.name}{mark}", lock.waiting, order_of(lock), lock.summary)
    console.print(table)
    console.print()
    for sentence in remarks(chosen):
        console.print(sentence)


def order_of(lock: LockInfo) -> str:
    """In which order waiters get the lock, in a word or two."""
    words = "strict FIFO" if lock.fifo else "may bypass" if lock.bypasses else "any"
    return f"{words}, NUMA" if lock.numa else words


def remarks(chosen: list[LockInfo]) -> list[str]:
    """What to know before choosing one of these locks."""
    said = []
    default = [lock.name for lock in chosen if lock.default]
    if default:
        said.append(f"* the lock of `hasp run` when none is named: {default[0]}.")
    collapsing = [lock.name for lock in chosen if lock.collapses]
    if collapsing:
        said.append(
            f"Collapse when oversubscribed (more runnable threads than CPUs), because "
            f"their waiters only spin: {', '.join(collapsing)}."
        )
    cautions: dict[str, list[str]] = {}
    for lock in chosen:
        if lock.caution:
            cautions.setdefault(lock.caution, []).append(lock.name)
    said += [f"{', '.join(names)}: {words}." for words, names in cautions.items()]
    aliases = [
        f"{alias} = {lock.name}"
        for lock in chosen
        for alias in lock.aliases
        if alias != lock.name
    ]
    if aliases:
        said.append(f"Other names: {', '.join(aliases)}.")
    return said
