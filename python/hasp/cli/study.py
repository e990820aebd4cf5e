# SPDX-License-Identifier: MIT
"""`hasp study`: measurements of locks x programs x machines, and their statistics."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.output import add_json_option

if TYPE_CHECKING:
    from hasp.report.study.summary import Summary
    from hasp.study.tables import Table

NAME = "study"
HELP = "locks x programs x machines: import measurements, print the study's tables"
SCHEMA = "hasp.study/1"

EXAMPLES = """\
examples:
  hasp study plan studies/locks.toml --store runs
  hasp study run studies/locks.toml --store runs
  hasp study run studies/locks.toml --store runs --on simulated:xeon-80
  hasp study add --store runs --machine A-64 A64.csv
  hasp study list --store runs
  hasp study table sensitivity --store runs --machine A-64
  hasp study table pairwise --store runs --machine A-64 --at max --csv
  hasp study table harmful --store runs --machine A-64,A-48
  hasp study table correlation --store runs --machine I-48 --with tpp
  hasp study report --store runs --html report.html
  hasp study diff before after --fail-if-worse

A CSV file has one line for each run: the program (column `program` or `bench`), the
lock (`lock` or `strategy`), how much of the machine it used (`threads`, `nodes` or
`node`), and one column for each metric, where more is better.
"""
TABLE_WORDS = """\
tables (numbers as in "Lock - Unlock: Is That All?", ACM TOCS 2019):
  sensitivity       gain of the best lock over the worst, and deviation (7, 19)
  sensitive         how many programs are lock-sensitive (8)
  coverage          how often each lock is within 5 % of the best (31, 32)
  coverage-summary  the same over all locks (11)
  harmful           how often each lock costs over 15 % (12)
  pairwise          on how many programs a lock beats another (38, 39, 45, 46)
  changes           pairs of locks that change places between sizes (13, 66), or,
                    with several machines, between these (72)
  breakdown         at which size programs do best (10)
  best-vs-lock      what each program would gain by its best lock (52, 53)
  correlation       Pearson's r of two metrics (16)
All but sensitivity and correlation are over the lock-sensitive programs.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The verbs of `hasp study` and their options."""
    parser.usage = "hasp study {plan,run,add,list,table,report,diff} [options]"
    parser.epilog = EXAMPLES
    verbs = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    raw = argparse.RawDescriptionHelpFormatter
    add = verbs.add_parser("add", help="put a CSV file of runs into a store")
    add.add_argument("files", nargs="+", type=Path, metavar="FILE.csv")
    add.add_argument("--machine", required=True, help="where they were measured")
    for name, words in (
        ("plan", "what a plan would run here, and how long that takes"),
        ("run", "carry a plan out, or go on with it"),
    ):
        verb = verbs.add_parser(name, help=words)
        verb.add_argument("plan", type=Path, metavar="PLAN.toml")
        verb.add_argument("--machine", help="name in the store (default: this host's)")
        verb.add_argument("--store", required=True, type=Path, metavar="DIR")
        if name == "run":
            verb.add_argument(
                "--on",
                metavar="PLACE",
                help="simulated:MACHINE (`hasp simulate --list`; default: here)",
            )
    listing = verbs.add_parser("list", help="what a store holds")
    table = verbs.add_parser(
        "table",
        help="print a table of the lock study from a store",
        epilog=TABLE_WORDS,
        formatter_class=raw,
    )
    from hasp.statistics.grid import POINTS
    from hasp.study.tables import TABLES

    table.add_argument("table", choices=list(TABLES), metavar="TABLE")
    table.add_argument(
        "--machine", required=True, help="one, or several separated by commas"
    )
    table.add_argument(
        "--metric", default="throughput", help="default: %(default)s; more is better"
    )
    table.add_argument("--with", dest="other", help="the metric to correlate it with")
    table.add_argument(
        "--at", choices=POINTS, help="smallest size, largest, or the lock's best one"
    )
    table.add_argument(
        "--sizes", type=_sizes, metavar="N,N...", help="the sizes that changes compares"
    )
    table.add_argument("--csv", action="store_true", help="comma-separated values")
    report = verbs.add_parser("report", help="what a store shows, and as a page")
    report.add_argument("--html", type=Path, metavar="FILE", help="one offline page")
    report.add_argument("--markdown", type=Path, metavar="FILE", help="as Markdown")
    report.add_argument(
        "--latex", type=Path, metavar="DIR", help="its tables for LaTeX (booktabs)"
    )
    report.add_argument("--figures", type=Path, metavar="DIR", help="its figures")
    report.add_argument(
        "--formats",
        type=_formats,
        default=["png", "svg", "pdf"],
        metavar="LIST",
        help="of the figures: png, svg, pdf (default: all)",
    )
    report.add_argument("--title", default="", help="of the page")
    report.add_argument("--machine", help="only these, separated by commas")
    diff = verbs.add_parser("diff", help="what is different between two stores")
    diff.add_argument("before", type=Path, metavar="BEFORE")
    diff.add_argument("after", type=Path, metavar="AFTER")
    diff.add_argument("--machine", help="only these, separated by commas")
    diff.add_argument("--metric", help="only this one (default: all)")
    diff.add_argument(
        "--top",
        type=_count,
        default=20,
        metavar="N",
        help="rows (default: %(default)s)",
    )
    diff.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="end with status 1 if a configuration became worse",
    )
    add_json_option(diff)
    for verb in (add, listing, table, report):
        verb.add_argument("--store", required=True, type=Path, metavar="DIR")
        add_json_option(verb)


def _sizes(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.isdecimal() for word in words):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers")
    return tuple(sorted({int(word) for word in words}))


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _formats(text: str) -> list[str]:
    from hasp.plots.study import FORMATS

    words = text.split(",")
    if not {*words} <= {*FORMATS}:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of {', '.join(FORMATS)}")
    return words


def run(arguments: argparse.Namespace) -> int:
    """Do what the action says."""
    actions = {
        "add": add_files,
        "plan": show_plan,
        "run": run_plan,
        "list": list_store,
        "table": print_table,
        "report": print_report,
        "diff": print_differences,
    }
    return actions[arguments.action](arguments) or 0


def show_plan(arguments: argparse.Namespace) -> None:
    """What is left to do, program by program."""
    from hasp.study.campaign import load
    from hasp.study.session import show

    show(load(arguments.plan), arguments.store, arguments.machine)


def run_plan(arguments: argparse.Namespace) -> int:
    """Carry it out; Ctrl-C leaves a store that can be used and gone on with."""
    from hasp.study.campaign import load
    from hasp.study.session import carry_out

    campaign = load(arguments.plan)
    if arguments.on:
        from hasp.study import simulated

        where = arguments.on
        return simulated.carry_out(campaign, arguments.store, where, arguments.machine)
    return carry_out(campaign, arguments.store, arguments.machine)


def add_files(arguments: argparse.Namespace) -> None:
    """Import CSV files, each of them whole or not at all."""
    from hasp.output import note, write_json
    from hasp.study.importing import import_csv
    from hasp.study.samples import create_or_open

    store = create_or_open(arguments.store)
    batches = []
    for path in arguments.files:
        batch = import_csv(store, arguments.machine, path)
        batches.append(batch)
        note(
            f"{path}: {batch['runs']} runs on {batch['machine']}, "
            f"{', '.join(batch['metrics'])}"
        )
    if arguments.json:
        write_json(({"schema": SCHEMA, **batch} for batch in batches), arguments.json)


def list_store(arguments: argparse.Namespace) -> None:
    """The batches of a store."""
    from hasp.study.samples import open_store
    from hasp.study.tables import Table

    batches = open_store(arguments.store).batches()
    columns = ["machine", "runs", "size_unit", "metrics", "source", "added"]
    rows: list[list[str | int | float | None]] = [
        [
            ", ".join(batch[name]) if name == "metrics" else batch[name]
            for name in columns
        ]
        for batch in batches
    ]
    show(Table(columns, rows), arguments)


def print_table(arguments: argparse.Namespace) -> None:
    """One of the study's tables."""
    from hasp.study.grids import grid_of
    from hasp.study.samples import open_store
    from hasp.study.tables import TABLES, Question

    store = open_store(arguments.store)
    samples, less = store.read(), store.lower_is_better()
    machines = arguments.machine.split(",")
    grids, others = (
        {
            name: grid_of(samples, name, metric, inverted=metric in less)
            for name in machines
        }
        for metric in (arguments.metric, arguments.other or arguments.metric)
    )
    other = others if arguments.other else None
    question = Question(grids, arguments.at, arguments.sizes, other)
    show(TABLES[arguments.table](question), arguments)


def print_report(arguments: argparse.Namespace) -> None:
    """The verdict in words, and the whole report as a page."""
    from hasp import output, version
    from hasp.report.study.page import as_data, render
    from hasp.report.study.summary import metrics_of, summarise
    from hasp.report.study.text import markdown
    from hasp.report.study.verdict import sentences
    from hasp.study.samples import open_store

    for destination in (arguments.html, arguments.markdown):
        if destination:
            output.check_writable(str(destination))
    store = open_store(arguments.store)
    samples = store.read()
    units = {batch["machine"]: batch["size_unit"] for batch in store.batches()}
    machines = arguments.machine.split(",") if arguments.machine else sorted(units)
    summaries = [
        summarise(
            samples,
            machine,
            metric,
            units.get(machine, "size"),
            inverted=metric in store.lower_is_better(),
        )
        for machine in machines
        for metric in metrics_of(samples, machine) or [""]
    ]
    title = arguments.title or f"Locks on {', '.join(machines)}"
    if arguments.html:
        write(arguments.html, render(summaries, title, version()))
        output.note(f"{arguments.html}: the report, {len(summaries)} machine x metric")
    if arguments.markdown:
        write(arguments.markdown, markdown(summaries, title))
    for summary in summaries:
        write_parts(summary, summaries, arguments)
    if arguments.json:
        records = ({"schema": SCHEMA, **as_data(one)} for one in summaries)
        output.write_json(records, arguments.json)
        return
    console = output.console()
    for number, summary in enumerate(summaries):
        if number:
            console.print()
        for sentence in sentences(summary):
            console.print(sentence)


def print_differences(arguments: argparse.Namespace) -> int:
    """What changed between two stores, for each machine and metric of both."""
    from hasp import output
    from hasp.errors import EXIT_FINDING
    from hasp.report.study import difference
    from hasp.study.differences import WORSE
    from hasp.study.sides import comparisons

    found = comparisons(
        arguments.before, arguments.after, arguments.machine, arguments.metric
    )
    if arguments.json:
        records = (
            {"schema": SCHEMA, **record}
            for one in found
            for record in difference.records(one)
        )
        output.write_json(records, arguments.json)
    if arguments.json != output.STDOUT:
        for one in found:
            for sentence in difference.sentences(one):
                output.console().print(sentence)
            changed = difference.table(one, arguments.top)
            if changed.rows:
                show(changed, argparse.Namespace(json=None))
    worse = any(one.of(WORSE) for one in found)
    return EXIT_FINDING if worse and arguments.fail_if_worse else 0


def write_parts(
    summary: Summary, summaries: list[Summary], arguments: argparse.Namespace
) -> None:
    """The LaTeX tables and the figures of one machine and metric."""
    from hasp.errors import HaspError

    try:
        if arguments.latex:
            from hasp.report.study.text import latex

            arguments.latex.mkdir(parents=True, exist_ok=True)
            latex(summary, arguments.latex)
        if arguments.figures:
            from hasp.plots.study import draw_all

            arguments.figures.mkdir(parents=True, exist_ok=True)
            others = [
                one
                for one in summaries
                if one.machine == summary.machine and one.metric != summary.metric
            ]
            draw_all(summary, others, arguments.figures, arguments.formats)
    except OSError as problem:
        raise HaspError(
            f"cannot write {problem.filename}: {problem.strerror}",
            "name a folder that you may write",
        ) from None


def write(path: Path, text: str) -> None:
    """Write a file, or say why not."""
    from hasp.errors import HaspError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise HaspError(
            f"cannot write {path}: {problem.strerror}",
            "name a file in a folder of yours",
        ) from None


def show(table: Table, arguments: argparse.Namespace) -> None:
    """Print it as JSON lines, as CSV, or for people."""
    from hasp import output

    if arguments.json:
        records = (
            {"schema": SCHEMA, **dict(zip(table.columns, row, strict=True))}
            for row in table.rows
        )
        output.write_json(records, arguments.json)
    elif getattr(arguments, "csv", False):
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([table.columns, *table.rows])
    else:
        shown = output.table()
        for place, column in enumerate(table.columns):
            number = any(isinstance(row[place], int | float) for row in table.rows)
            shown.add_column(
                column.replace("_", " "), justify="right" if number else "left"
            )
        for row in table.rows:
            shown.add_row(*("" if cell is None else str(cell) for cell in row))
        output.console().print(shown)
