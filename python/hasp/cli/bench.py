# SPDX-License-Identifier: MIT
"""`hasp bench`: the cost of locks, hash tables and profiling; the worth of advice."""

from __future__ import annotations

import argparse
import shlex
import sys
import textwrap
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.output import add_json_option
from hasp.locks.selection import ALL, add_locks_option

NAME = "bench"
OTHER_KINDS = ("rwlocks", "spinlocks", "barriers")
SUBJECTS = (
    *("locks", *OTHER_KINDS, "messages", "delegation", "hash-table"),
    *("transactions", "profile", "advice"),
)
ADVICE_DATA = "docs/data/advice.jsonl"
HELP = "measure locks, the library, profiling, or the worth of the advice"

EXAMPLES = """\
examples:
  hasp bench locks --quick --locks futex,mcs  under a minute on two CPUs
  hasp bench locks --cases uncontended,contended
  hasp bench locks --json results.jsonl       every lock: a quarter of an hour
  hasp bench locks --from results.jsonl --plot locks.png
  hasp bench locks --check-targets            status 1 if locks are too slow
  hasp bench rwlocks --locks bravo+rw-futex   beside glibc's; likewise spinlocks
  hasp bench barriers --plot barriers.png
  hasp bench messages --plot messages.png     channels beside other rings
  hasp bench delegation                       executors beside locks
  hasp bench hash-table --quick               beside oneTBB's and others
  hasp bench transactions --quick             beside one lock and GCC's libitm
  hasp bench profile --check-targets          what `hasp profile` costs
  hasp bench advice --check-targets           what `hasp advise` loses

Each case runs briefly in randomly ordered rounds, with glibc's mutex and, where it
makes sense, an inlined test-and-set byte, the `floor`. Ratios are to glibc's median,
with a 95 % interval. A lock that collapses or hangs is reported in its row. To quote
figures, measure on an idle machine.
"""


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 10000")
    return int(text)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp bench`."""
    parser.usage = "hasp bench SUBJECT [options], where SUBJECT is\n" + textwrap.fill(
        " | ".join(SUBJECTS),
        initial_indent=" " * 7,
        subsequent_indent=" " * 7,
    )
    parser.epilog = EXAMPLES
    parser.add_argument(
        "what",
        choices=SUBJECTS,
        metavar="SUBJECT",
        help=f"{', '.join(SUBJECTS[:-1])} (what it costs a program), or "
        f"{SUBJECTS[-1]} (what it loses)",
    )
    add_locks_option(parser)
    parser.add_argument(
        "--cases", metavar="LIST", help="case names, separated by commas (default: all)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="end within 50 seconds for two locks"
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=_positive,
        help="number of rounds, however long they take (default: as many as fit)",
    )
    parser.add_argument(
        "--check-targets",
        action="store_true",
        help="compare with Hasp's targets; status 1 if one is missed",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="a figure of all that is compared: FILE.png or FILE.svg; not for "
        "delegation, profile and advice",
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="show results that --json wrote to FILE, without measuring; for advice, "
        f"the data (default: {ADVICE_DATA})",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="advice: change a threshold of `hasp advise --rules`; may be repeated",
    )
    parser.add_argument(
        "--markdown", metavar="FILE", help="advice: write the tables to FILE"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the results, also after an interruption."""
    if arguments.what == "advice":
        return _advice(arguments)
    for option in ("set", "markdown"):
        if getattr(arguments, option):
            raise HaspError(f"--{option} is for `hasp bench advice`", "leave it out")
    if arguments.what in ("messages", "delegation"):
        return _whole(arguments)
    if arguments.what in ("hash-table", "transactions"):
        return _structures(arguments)
    measured = ("locks", *OTHER_KINDS)
    return _run_locks(arguments) if arguments.what in measured else _profile(arguments)


def _whole(arguments: argparse.Namespace) -> int:
    """Measure messages or delegation, which have no choice of cases."""
    _refuse(arguments, "locks", "cases", "check_targets")
    chosen = (arguments.quick, arguments.runs, arguments.json)
    if arguments.what == "delegation":
        _refuse(arguments, "plot", "source")
        from hasp.lab.bench import delegation

        return delegation.measure_delegation(delegation.Options(*chosen))
    from hasp.lab.bench import messages

    return messages.measure_messages(
        messages.Options(*chosen, source=arguments.source, plot=arguments.plot)
    )


def _refuse(arguments: argparse.Namespace, *options: str) -> None:
    """Raise HaspError if one of these options was given."""
    for option in options:
        if getattr(arguments, option) not in (None, ALL, False):
            name = "from" if option == "source" else option.replace("_", "-")
            raise HaspError(
                f"--{name} is not for `hasp bench {arguments.what}`", "leave it out"
            )


def _advice(arguments: argparse.Namespace) -> int:
    from hasp.lab.bench.advice.bench import Options, bench_advice

    _refuse(arguments, "locks", "cases", "quick", "runs", "plot")
    return bench_advice(
        Options(
            Path(arguments.source or ADVICE_DATA),
            tuple(arguments.set),
            arguments.check_targets,
            arguments.json,
            arguments.markdown,
        )
    )


def _structures(arguments: argparse.Namespace) -> int:
    from hasp.lab.bench import tables, transactions
    from hasp.locks.selection import select

    _refuse(arguments, "check_targets")
    chosen = [] if arguments.locks == ALL else select(arguments.locks)
    options = {
        "cases": arguments.cases,
        "locks": tuple(lock.name for lock in chosen if not lock.is_reference),
        "quick": arguments.quick,
        "runs": arguments.runs,
        "json": arguments.json,
        "source": arguments.source,
        "plot": arguments.plot,
    }
    if arguments.what == "transactions":
        return transactions.bench_transactions(transactions.Options(**options))
    return tables.bench_tables(tables.Options(**options))


def _profile(arguments: argparse.Namespace) -> int:
    from hasp.lab.bench.overhead.profile import Options, measure_profiling, show_again

    for option in ("locks", "plot"):
        if getattr(arguments, option) not in (None, ALL):
            raise HaspError(
                f"--{option} is for `hasp bench locks`",
                "profiling is measured under glibc's own lock; leave it out",
            )
    options = Options(
        cases=arguments.cases,
        quick=arguments.quick,
        runs=arguments.runs,
        check_targets=arguments.check_targets,
        json=arguments.json,
        command=shlex.join(["hasp", *sys.argv[1:]]),
    )
    if arguments.source:
        return show_again(options, Path(arguments.source))
    return measure_profiling(options)


def _run_locks(arguments: argparse.Namespace) -> int:
    from hasp.lab.bench.locks import Options, measure_locks, show_again
    from hasp.locks.kinds import MUTEX, kind_of
    from hasp.locks.native import WrongKind
    from hasp.locks.selection import select

    kind = MUTEX if arguments.what == "locks" else kind_of(arguments.what)
    try:
        locks = select(arguments.locks, kind)
    except WrongKind as problem:
        what = "locks" if problem.kind is MUTEX else problem.kind.plural
        raise HaspError(
            problem.message, f"`hasp bench {what} --locks {problem.name}` measures it"
        ) from None
    options = Options(
        locks=locks,
        cases=arguments.cases,
        quick=arguments.quick,
        runs=arguments.runs,
        check_targets=arguments.check_targets,
        json=arguments.json,
        plot=arguments.plot,
        command=shlex.join(["hasp", *sys.argv[1:]]),
        kind=kind,
    )
    if arguments.source:
        return show_again(options, Path(arguments.source))
    return measure_locks(options)
