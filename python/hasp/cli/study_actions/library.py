# SPDX-License-Identifier: MIT
"""`hasp study library`: the programs that come with Hasp, and plans made of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option

HELP = "programs to study: list them, or write a plan of them"
SCHEMA = "hasp.study.library/1"
EPILOG = """\
examples:
  hasp study library
  hasp study library --programs shape
  hasp study library --write plan.toml
  hasp study library --write plan.toml --programs rocksdb,pigz,task-queue

Real programs come from Debian packages; shapes are programs of Hasp's own that
take their locks as the applications of the lock study do, with knobs, here or
simulated.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Which programs, and where a plan of them goes."""
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
    """List, or write."""
    from hasp.base import output
    from hasp.study import library, shapes

    every = library.entries()
    usual = "installed" if arguments.write else "all"
    some = library.chosen(every, library.words_of(arguments.programs or usual))
    missing = library.install_line(some)
    if arguments.write:
        library.write(arguments.write, library.plan_text(some))
        output.note(f"{arguments.write}: a plan of {len(some)} programs")
        if missing:
            output.note(f"some are not installed here: {missing}")
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
        (library.REAL, "Real programs, of Debian packages"),
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
        console.print(f"For those that are not here: {missing}")
    if any(one.kind == library.SHAPE for one in some):
        console.print(f"A shape by itself: {shapes.path()} NAME", soft_wrap=True)
    return 0
