# SPDX-License-Identifier: MIT
"""`hasp study table`: a table of the lock study from a store."""

from __future__ import annotations

import argparse

from hasp.cli.study_actions.common import add_store_option, show
from hasp.output import add_json_option

HELP = "print a table of the lock study from a store"

WORDS = """\
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
    """Which table, and of what."""
    from hasp.statistics.grid import POINTS
    from hasp.study.tables import TABLES

    parser.epilog = WORDS
    add = parser.add_argument
    add("table", choices=list(TABLES), metavar="TABLE")
    add("--machine", required=True, help="one, or several separated by commas")
    add("--metric", default="throughput", help="default: %(default)s; more is better")
    add("--with", dest="other", help="the metric to correlate it with")
    add("--at", choices=POINTS, help="smallest size, largest, or the lock's best one")
    add(
        "--sizes", type=_sizes, metavar="N,N...", help="the sizes that changes compares"
    )
    add("--csv", action="store_true", help="comma-separated values")
    add_store_option(parser)
    add_json_option(parser)


def _sizes(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.isdecimal() for word in words):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers")
    return tuple(sorted({int(word) for word in words}))


def run(arguments: argparse.Namespace) -> int:
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
    table = TABLES[arguments.table](question)
    show(table, arguments.json, as_csv=arguments.csv)
    return 0
