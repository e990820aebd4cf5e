# SPDX-License-Identifier: MIT
"""Carries out `hasp study library`: lists programs, or writes a campaign of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.base import output
from hasp.study import library, shapes
from hasp.study.library import LibraryProgram

SCHEMA = "hasp.study.library/1"


@dataclass(frozen=True)
class Options:
    """The options of `hasp study library`."""

    programs: str | None = None  # names and groups; None: all, or those installed
    write: Path | None = None
    json: str | None = None


def show_library(options: Options) -> None:
    """Print the programs, or write them as a campaign or as JSON lines."""
    usual = "installed" if options.write else "all"
    words = library.words_of(options.programs or usual)
    some = library.chosen(library.entries(), words)
    if options.write:
        library.write(options.write, library.plan_text(some))
        output.note(f"wrote {options.write}: a campaign, programs: {len(some)}")
        if missing := library.install_line(some):
            output.note(f"some programs are not installed: {missing}")
    if options.json:
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
        output.write_json(records, options.json)
    if not options.write and not options.json:
        _print(some)


def _print(some: Sequence[LibraryProgram]) -> None:
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
    if missing := library.install_line(some):
        console.print(f"To install the missing programs: {missing}")
    if any(one.kind == library.SHAPE for one in some):
        console.print(f"To run a shape directly: {shapes.path()} NAME", soft_wrap=True)
