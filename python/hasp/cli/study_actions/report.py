# SPDX-License-Identifier: MIT
"""`hasp study report`: report on a store as text, page, figures and tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option
from hasp.cli.study_actions.common import add_store_option

HELP = "report on a store, as text or as a page"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study report`."""
    add = parser.add_argument
    add("--html", type=Path, metavar="FILE", help="one offline page")
    add("--markdown", type=Path, metavar="FILE", help="as Markdown")
    add("--latex", type=Path, metavar="DIR", help="its tables for LaTeX (booktabs)")
    add("--figures", type=Path, metavar="DIR", help="its figures")
    add(
        "--formats",
        type=_formats,
        default=["png", "svg", "pdf"],
        metavar="LIST",
        help="of the figures: png, svg, pdf (default: all)",
    )
    add("--title", default="", help="of the page")
    for name in ("--machine", "--metric"):
        add(name, help="only these, separated by commas")
    add_store_option(parser)
    add_json_option(parser)


def _formats(text: str) -> list[str]:
    from hasp.study.report.figures import FORMATS

    words = text.split(",")
    if not {*words} <= {*FORMATS}:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of {', '.join(FORMATS)}"
        )
    return words


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict, and write the requested files."""
    from hasp.study.report.command import Options, report

    def words(text: str | None) -> list[str]:
        return text.split(",") if text else []

    report(
        Options(
            store=arguments.store,
            machines=words(arguments.machine),
            metrics=words(arguments.metric),
            title=arguments.title,
            html=arguments.html,
            markdown=arguments.markdown,
            latex=arguments.latex,
            figures=arguments.figures,
            formats=arguments.formats,
            json=arguments.json,
        )
    )
    return 0
