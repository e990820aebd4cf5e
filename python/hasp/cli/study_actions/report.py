# SPDX-License-Identifier: MIT
"""`hasp study report`: report on a store as text, page, figures and tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.extras import require
from hasp.base.files import write_file
from hasp.base.output import add_json_option
from hasp.cli.study_actions.common import SCHEMA, add_store_option

if TYPE_CHECKING:
    from hasp.study.report.summary import Summary

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
    from hasp.base import output
    from hasp.study.report.page import as_data, render
    from hasp.study.report.summary import metrics_of, summarise
    from hasp.study.report.text import markdown, print_verdicts
    from hasp.study.samples import open_store

    if arguments.html or arguments.figures:
        require("report")
    for destination in (arguments.html, arguments.markdown):
        if destination:
            output.check_writable(str(destination))
    store = open_store(arguments.store)
    samples, batches = store.read(), store.batches()
    units = {batch["machine"]: batch["size_unit"] for batch in batches}
    machines = arguments.machine.split(",") if arguments.machine else sorted(units)
    descriptive = store.descriptive()
    wanted = arguments.metric.split(",") if arguments.metric else None
    summaries = [
        summarise(
            samples,
            machine,
            metric,
            units.get(machine, "size"),
            inverted=metric in store.lower_is_better(),
        )
        for machine in machines
        for metric in wanted or metrics_of(samples, machine) or [""]
        if wanted or metric not in descriptive
    ]
    title = arguments.title or f"Locks on {', '.join(machines)}"
    if arguments.html:
        write_file(arguments.html, render(summaries, title, batches))
        output.note(f"{arguments.html}: the report, {len(summaries)} machine x metric")
    figures = _write_parts(summaries, arguments)
    if arguments.markdown:
        path = arguments.markdown
        write_file(path, markdown(summaries, title, batches, figures, beside=path))
    if arguments.json:
        records = ({"schema": SCHEMA, **as_data(one, summaries)} for one in summaries)
        output.write_json(records, arguments.json)
        return 0
    print_verdicts(summaries, output.console())
    return 0


def _write_parts(summaries: list[Summary], arguments: argparse.Namespace) -> list[Path]:
    """Write LaTeX tables and figures; returns the figures by machine and metric."""
    from hasp.base.errors import HaspError

    figures: list[Path] = []
    try:
        if arguments.latex:
            from hasp.study.report.text import latex

            arguments.latex.mkdir(parents=True, exist_ok=True)
            for summary in summaries:
                latex(summary, arguments.latex)
        if arguments.figures:
            from hasp.study.report.figures import draw_all

            arguments.figures.mkdir(parents=True, exist_ok=True)
            for summary in summaries:
                others = [
                    one
                    for one in summaries
                    if one.machine == summary.machine and one is not summary
                ]
                figures += draw_all(
                    summary, others, arguments.figures, arguments.formats
                )
    except OSError as problem:
        raise HaspError(
            f"cannot write {problem.filename}: {problem.strerror}",
            "name a folder that you can write to",
        ) from None
    return figures
