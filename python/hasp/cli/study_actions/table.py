# SPDX-License-Identifier: MIT
"""`hasp study table`: print a table of the lock study from a store."""

from __future__ import annotations

import argparse

from hasp.base.output import add_json_option
from hasp.cli.study_actions.common import add_store_option

HELP = "print a table of the lock study from a store"

WORDS = """\
tables (numbers as in "Lock - Unlock: Is That All?", ACM TOCS 2019):
  sensitivity       gain of the best lock over the worst, and deviation (7, 19)
    sensitive         number of lock-sensitive programs (8)
      coverage          share of programs with a lock near the best (31, 32)
  coverage-summary  the same over all locks (11)
    harmful           share of programs that a lock slows by over 15 % (12)
      pairwise          share of programs where a lock beats another (38, 39)
    changes           pairs of locks whose order changes between sizes (13, 66)
                      or, with several machines, between machines (72)
    breakdown         best sizes of the programs (10)
      best-vs-lock      gain of each program from its best lock (52, 53)
  correlation       Pearson's r of two metrics (16)
Except for sensitivity and correlation, the tables above include only
lock-sensitive programs; these include all:
  optimal-sizes     best size of each lock
  collapse          locks that lose over half of their peak at the largest size
  means             each configuration's mean with its 95 % interval
  verdicts          each lock against a program's best one: ratio with a
                    bootstrap interval, Hedges' g, p corrected by Holm, or
                    "cannot tell"
  interposed        paired t-test of the same locks native and interposed: of
                    two machines NATIVE,INTERPOSED (6), or two locks (--locks)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study table`."""
    parser.epilog = WORDS
    add = parser.add_argument
    add("table", type=_table, metavar="TABLE", help="one of those below")
    add("--machine", required=True, help="one, or several separated by commas")
    add("--metric", default="throughput", help="default: %(default)s; more is better")
    add("--with", dest="other", help="the metric to correlate it with")
    add(
        "--at",
        type=_point,
        metavar="{one,max,opt}",
        help="smallest size, largest, or the lock's best one",
    )
    add(
        "--sizes", type=_sizes, metavar="N,N...", help="the sizes that changes compares"
    )
    add(
        "--locks",
        type=_two,
        metavar="A,B",
        help="the two that interposed compares (default: glibc,futex)",
    )
    add("--csv", action="store_true", help="comma-separated values")
    add_store_option(parser)
    add_json_option(parser)


# Imported only when needed, because importing takes longer than adding a file.


def _table(text: str) -> str:
    from hasp.study.catalogue import TABLES

    return _one_of(text, tuple(TABLES))


def _point(text: str) -> str:
    from hasp.statistics.grid import POINTS

    return _one_of(text, POINTS)


def _one_of(text: str, known: tuple[str, ...]) -> str:
    if text not in known:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(known)}")
    return text


def _sizes(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.isdecimal() for word in words):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers")
    return tuple(sorted({int(word) for word in words}))


def _two(text: str) -> tuple[str, str]:
    first, comma, second = text.partition(",")
    if not comma or not second or "," in second:
        raise argparse.ArgumentTypeError(f"{text!r} is not two locks")
    return first, second


def run(arguments: argparse.Namespace) -> int:
    """Print a table."""
    from hasp.study.catalogue import Options, show_table

    show_table(
        Options(
            table=arguments.table,
            store=arguments.store,
            machines=arguments.machine.split(","),
            metric=arguments.metric,
            other=arguments.other,
            at=arguments.at,
            sizes=arguments.sizes,
            locks=arguments.locks,
            csv=arguments.csv,
            json=arguments.json,
        )
    )
    return 0
