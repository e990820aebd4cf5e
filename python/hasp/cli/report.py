# SPDX-License-Identifier: MIT
"""`hasp report`: report a trace in any format."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.errors import EXIT_FINDING, HaspError
from hasp.base.output import STDOUT, note
from hasp.cli.traces import add_trace_options, trace_named

if TYPE_CHECKING:
    from hasp.profile.model.profile import Profile
    from hasp.profile.report.conditions import Condition, ProgramCondition

NAME = "report"
HELP = "show what `hasp profile` recorded: which lock hurts, and why"

EPILOG = """\
examples:
  hasp report hasp.trace                    the verdict, its numbers, the locks
  hasp report --expand db.c:88 --histogram db.c:88 hasp.trace
  hasp report --html locks.html hasp.trace  the whole report as a page
  hasp report --what-if 'log_mu hold x0.5'  what would a shorter section gain?
  hasp report --open                        the same page, in a browser
  hasp report --folded wait hasp.trace | flamegraph.pl > wait.svg
  hasp report --fail-if findings --fail-if 'db.c*: contended > 5%' hasp.trace

A FILE of `-`, or none, is standard output. The default TRACE is ./hasp.trace.

exit status: 0 success; 1 a --fail-if holds; 2 wrong usage, or not a trace.
"""
TOP = 10


def top(text: str) -> int | None:
    """Parse the N of `--top N`; None means all."""
    if text == "all":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor `all`")
    return int(text)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp report`."""
    parser.usage = "hasp report [options] [TRACE]"
    parser.epilog = EPILOG
    add_trace_options(parser)
    parser.add_argument(
        "--tree",
        action="store_true",
        help="report all processes of the run together, with a row for each",
    )
    shown = parser.add_argument_group("what to show")
    add = shown.add_argument
    add(
        "--sort",
        metavar="METRIC",
        default="share",
        help="sort the locks by (default: share): wait, wait.p99, hold.max, "
        "contended, acquisitions, waiters...",
    )
    add(
        "--top",
        metavar="N",
        type=top,
        default=TOP,
        help=f"number of lines of each table, or `all` (default: {TOP})",
    )
    add(
        "--expand",
        metavar="SITE",
        help="stacks and locks of a site: a name, a part of it, or *",
    )
    add(
        "--why",
        action="store_true",
        help="also print all causes, rules, thresholds, and what was not measured",
    )
    add("--threads", action="store_true", help="print the threads")
    add("--histogram", metavar="SITE", help="wait, hold and handover times of a site")
    add(
        "--what-if",
        action="append",
        default=[],
        metavar="CHANGE",
        help="predict the effect of a change: 'SITE hold x0.5', 'SITE outside 80%%', "
        "'SITE split 4', 'SITE wait x0.5' or 'SITE remove'; may be repeated",
    )
    _add_formats(parser)
    parser.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="CONDITION",
        help="exit with 1 if a lock meets it: [SITE:] METRIC OPERATOR VALUE; "
        "`findings`: if a lock is misused, or may deadlock",
    )


def _add_formats(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument_group("other formats, each to FILE or stdout")
    add = files.add_argument

    def add_form(name: str, words: str) -> None:
        add(f"--{name}", nargs="?", const=STDOUT, metavar="FILE", help=words)

    add_form("json", "the whole report, as one object of the schema hasp.report/2")
    add_form("csv", "a row for each site, with every figure")
    add_form("markdown", "the first screen")
    add_form("html", "the whole report as a page that needs no network")
    add(
        "--open",
        action="store_true",
        help="open the page in a browser; without --html, it is TRACE.html",
    )
    add(
        "--folded",
        nargs="+",
        metavar=("wait|hold", "FILE"),
        help="stacks in flamegraph.pl's format, by time waited or held",
    )
    add_form("speedscope", "stacks, for speedscope")
    add_form("chrome-trace", "waiters and holders over time, for Perfetto")
    add_form("firefox", "stacks, waits and holds, for the Firefox Profiler")
    add_form("pprof", "stacks, for `go tool pprof`")


def run(arguments: argparse.Namespace) -> int:
    """Print the trace, or write it in other formats."""
    from hasp.profile.report.browser import open_page
    from hasp.profile.report.conditions import condition
    from hasp.profile.report.figures import metric
    from hasp.profile.report.outputs import outputs, write

    conditions = [condition(text) for text in arguments.fail_if]
    order = metric(arguments.sort)
    trace = trace_named(arguments)
    if arguments.what_if:
        return _predict(arguments, trace)
    if arguments.open:
        _name_page(arguments, trace)
    wanted = outputs(vars(arguments), trace)
    profile = _opened(arguments, trace)
    for output in wanted:
        write(profile, output, order, arguments.top)
    if not wanted:
        _print(profile, arguments)
    if arguments.open:
        open_page(Path(arguments.html))
    return _judge(profile, conditions)


def _opened(arguments: argparse.Namespace, trace: Path) -> Profile:
    from hasp.profile.report.source import open_profile, open_tree

    if not arguments.tree:
        return open_profile(trace, arguments.process)
    if arguments.process is not None:
        raise HaspError(
            "--tree and --process cannot be combined", "--tree shows all processes"
        )
    return open_tree(trace)


def _name_page(arguments: argparse.Namespace, trace: Path) -> None:
    """Give the page of --open a name if it has none."""
    if arguments.html is None:
        arguments.html = str(trace.with_name(f"{trace.name}.html"))
    elif arguments.html == STDOUT:
        raise HaspError(
            "--open needs a page in a file", "name it: --html FILE, or leave --html out"
        )


def _predict(arguments: argparse.Namespace, trace: Path) -> int:
    from hasp.profile.report.outputs import outputs
    from hasp.profile.report.what_if import changes_of, show

    changes = changes_of(arguments.what_if)
    others = [one for one in outputs(vars(arguments), trace) if one.form != "json"]
    if others or arguments.fail_if:
        raise HaspError(
            "--what-if prints predictions only, as text or with --json",
            "run `hasp report` again for the rest",
        )
    show(_opened(arguments, trace), changes, arguments.json)
    return 0


def _print(profile: Profile, arguments: argparse.Namespace) -> None:
    from hasp.base.output import console
    from hasp.profile.report import details
    from hasp.profile.report.figures import metric
    from hasp.profile.report.headline import empty_words, is_empty
    from hasp.profile.report.text import Choice, print_delegated, print_report, say

    most: int | None = arguments.top
    if is_empty(profile):
        for line in (empty_words(profile), *profile.warnings):
            say(console(), line)
        print_delegated(profile, most, console())
        return
    parts: list[Callable[[], None]] = []
    if arguments.expand:
        parts.append(lambda: details.print_site(profile, arguments.expand, most))
    if arguments.histogram:
        parts.append(lambda: details.print_histograms(profile, arguments.histogram))
    if arguments.threads:
        parts.append(lambda: details.print_threads(profile, most))
    if not parts:
        choice = Choice(metric(arguments.sort), most, arguments.why)
        parts.append(lambda: print_report(profile, choice))
    for index, part in enumerate(parts):
        if index:
            print()
        part()


def _judge(profile: Profile, conditions: list[Condition | ProgramCondition]) -> int:
    from hasp.profile.report.conditions import failures

    notes, held = failures(profile, conditions)
    for words in (*notes, *held):
        note(words)
    return EXIT_FINDING if held else 0
