# SPDX-License-Identifier: MIT
"""`hasp study library`: list programs to study, and write campaigns with them."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option

HELP = "list programs to study, or write a campaign with them"
SCHEMA = "hasp.study.library/1"
EPILOG = """\
examples:
  hasp study library
  hasp study library --programs shape
  hasp study library --write plan.toml
  hasp study library --write plan.toml --programs rocksdb,pigz,task-queue

Real programs come from Debian packages. Shapes are programs of Hasp that take
locks as the applications of the lock study do; they have knobs, and also run on
simulated machines.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study library`."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--programs",
        metavar="LIST",
        help="names, and all, installed, real, shape (default: all; for a plan: "
        "installed)",
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="a plan of them")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or write a campaign."""
    from hasp.base import output
    from hasp.study import library, shapes

    every = library.entries()
    usual = "installed" if arguments.write else "all"
    some = library.chosen(every, library.words_of(arguments.programs or usual))
    missing = library.install_line(some)
    if arguments.write:
        library.write(arguments.write, library.plan_text(some))
        output.note(f"wrote {arguments.write}: a campaign with {len(some)} programs")
        if missing:
            output.note(f"some programs are not installed: {missing}")
    if arguments.json:
        records = (
            {
                "schema": SCHEMA,
                "name": one.name,
                "kind": one.kind,
                "summary": one.summary,
                "study": one.study,
                "packages": list(one.packages),
                "installed": one.installed,
                "knobs": one.knobs,
            }
            for one in some
        )
        output.write_json(records, arguments.json)
    if arguments.write or arguments.json:
        return 0
    console = output.console()
    for kind, title in (
        (library.REAL, "Real programs, from Debian packages"),
        (library.SHAPE, "Shapes, with knobs; also simulated"),
    ):
        shown = output.table(title=title)
        from_where = "PACKAGES" if kind == library.REAL else "AS"
        for heading in ("PROGRAM", "WHAT IT DOES", from_where):
            shown.add_column(heading)
        ours = [one for one in some if one.kind == kind]
        for one in ours:
            lack = "" if one.installed else " (not here)"
            last = " ".join(one.packages) + lack if one.packages else one.study
            shown.add_row(one.name, one.summary, last)
        if ours:
            console.print(shown)
            console.print()
    if missing:
        console.print(f"To install the missing programs: {missing}")
    if any(one.kind == library.SHAPE for one in some):
        console.print(f"To run a shape directly: {shapes.path()} NAME", soft_wrap=True)
    return 0
