# SPDX-License-Identifier: MIT
"""`hasp tune`: find the best lock for a program, and prove it, with few runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.durations import duration_argument
from hasp.base.errors import EXIT_FINDING, HaspError
from hasp.base.extras import require
from hasp.base.figures import check_figure
from hasp.base.files import write_file
from hasp.base.output import STDOUT, add_json_option, check_writable, note
from hasp.cli.measuring import add_single_run_options, positive
from hasp.locks.selection import add_kind_options

if TYPE_CHECKING:
    from hasp.tune.answer import Answer
    from hasp.tune.options import Options

NAME = "tune"
HELP = "find the best lock for a program, and prove it"
DEFAULT_TRACE = "hasp.trace"
DEFAULT_STORE = "hasp.tune.jsonl"
DEFAULT_PLAN = "hasp.plan.toml"
DEFAULT_BUDGET = 300.0
FIRST_TIMEOUT = 60.0

EPILOG = """\
examples:
  hasp tune -- ./program --work 1000
  hasp tune --budget 10m --metric 'ops/s: ([0-9.]+)' -- ./bench
  hasp tune --threads 1,2,4 -- ./bench --threads {threads}
  hasp tune --metric 'p99=P99: ([0-9.]+)' --unit us --lower-is-better \\
      --require 'time < 3 s' --plot tune.png -- ./bench
  hasp tune --server './server -p 8080' --ready tcp:8080 \\
      --metric 'rate: ([0-9.]+)' -- ./load
  hasp tune --resume --budget 20m -- ./program --work 1000

Records the program once, then races every lock, and plans with a different lock for
each of the sites that matter. Rounds of a few interleaved runs go to the candidates
that could still be the best. The race ends when the best is known: with 95 %
confidence, no candidate is more than 5 % better. It also ends when the budget is
spent, or with Ctrl-C, and then says what is proven and what is not.

exit status: 0 success; 1 no candidate works or meets the requirements; 2 nothing could
be measured, or an error ended the race, and the message gives the reason; 130 after
Ctrl-C, with the best so far.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp tune`."""
    parser.usage = "hasp tune [options] [--] COMMAND..."
    parser.epilog = EPILOG
    add_kind_options(parser)
    add = parser.add_argument
    add(
        "--budget",
        type=duration_argument,
        default=DEFAULT_BUDGET,
        metavar="TIME",
        help="time to spend, recording included (default: 5m)",
    )
    add(
        "--runs",
        dest="most",
        type=positive,
        metavar="N",
        help="runs to spend, those of a resumed race included",
    )
    add(
        "--for",
        dest="objective",
        metavar="NAME",
        help="what to optimise: a --metric, time, cpu, memory or energy (default: the "
        "first metric, else time)",
    )
    add(
        "--require",
        action="append",
        default=[],
        metavar="LIMIT",
        help="limit that the winner must keep, such as 'p99 < 2 ms'; may be repeated",
    )
    add("--no-plans", action="store_true", help="race locks only")
    add_single_run_options(parser, "10 times the first run")
    _add_outputs(parser)
    parser.set_defaults(timeout=None, runs=1, warmup=0)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    outputs = parser.add_argument_group("results")
    add_json_option(parser)
    add = outputs.add_argument
    add("--markdown", metavar="FILE", help="the table and the result as Markdown")
    add("--plot", metavar="FILE", help="a figure: FILE.png or FILE.svg")
    add(
        "--plan",
        default=DEFAULT_PLAN,
        metavar="FILE",
        help=f"where to write the best plan, if one wins (default: {DEFAULT_PLAN})",
    )
    add(
        "--store",
        default=DEFAULT_STORE,
        metavar="FILE",
        help=f"write every run to FILE as it ends (default: {DEFAULT_STORE})",
    )
    add("--resume", action="store_true", help="continue the race in that file")
    add(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT_TRACE,
        help=f"record into FILE (default: {DEFAULT_TRACE})",
    )
    add("--trace", metavar="FILE", help="do not record, use this trace of the program")


def run(arguments: argparse.Namespace) -> int:
    """Race the locks, print the result, and write the files."""
    require("study")
    if not arguments.command:
        raise HaspError(
            "there is no program to tune", "name one, for example: hasp tune -- ./bench"
        )
    for name in (
        arguments.json,
        arguments.markdown,
        arguments.store,
        arguments.plan,
    ):
        if name:
            check_writable(name)
    check_figure(arguments.plot)
    if arguments.trace and not Path(arguments.trace).exists():
        raise HaspError(
            f"{arguments.trace} does not exist", "record it: hasp profile -- COMMAND"
        )
    from hasp.base.linear_algebra import use_one_thread

    use_one_thread()
    options = _options(arguments)
    from hasp.base.signals import interrupt_on_signals
    from hasp.tune.answer import answer_of
    from hasp.tune.carry_out import race

    interrupt_on_signals()
    outcome = race(options)
    status = _report(answer_of(outcome), arguments)
    if outcome.error is not None:
        raise outcome.error
    return outcome.exit_status or status


def _options(arguments: argparse.Namespace) -> Options:
    from hasp.cli.measuring import settings_of
    from hasp.locks.kinds import KINDS
    from hasp.locks.selection import ALL, candidates
    from hasp.tune.objective import objective_of
    from hasp.tune.options import Options
    from hasp.tune.requirement import parse_requirement

    adapt = arguments.timeout is None
    if adapt:
        arguments.timeout = FIRST_TIMEOUT
    settings = settings_of(arguments, candidates(arguments))
    lists = [getattr(arguments, kind.list_option[2:]) for kind in KINDS]
    return Options(
        settings=settings,
        objective=objective_of(settings, arguments.objective),
        requirements=tuple(
            parse_requirement(text, settings) for text in arguments.require
        ),
        budget_s=arguments.budget,
        most_runs=arguments.most,
        trace=Path(arguments.trace or arguments.output),
        recorded=arguments.trace is not None,
        with_plans=not arguments.no_plans,
        store=Path(arguments.store),
        resume=arguments.resume,
        adapt_timeout=adapt,
        locks_given=any(one not in (None, ALL) for one in lists),
        seed_given=arguments.seed is not None,
    )


def _report(answer: Answer, arguments: argparse.Namespace) -> int:
    """Write the files and print the result; returns the exit status."""
    from hasp.base.output import write_json
    from hasp.tune.report import markdown, print_answer

    plan = _write_plan(answer, arguments.plan)
    if arguments.plot:
        from hasp.tune.figure import draw

        draw(answer, Path(arguments.plot))
    if arguments.markdown:
        write_file(arguments.markdown, markdown(answer, plan))
    if arguments.json:
        write_json(answer.as_json(), arguments.json)
    if arguments.json != STDOUT:
        print_answer(answer, plan)
    return 0 if answer.best is not None else EXIT_FINDING


def _write_plan(answer: Answer, name: str) -> Path | None:
    """Write the plan if one is the best; returns its file."""
    from hasp.locks.site_plan.toml_file import save

    best = answer.best
    plan = answer.contest.plans.get(best.cell.lock) if best else None
    if plan is None:
        return None
    save(plan, Path(name))
    note(f"wrote {name}")
    return Path(name)
