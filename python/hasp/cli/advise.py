# SPDX-License-Identifier: MIT
"""`hasp advise`: advice on a program's locks, proven by a comparison."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hasp.base.extras import require
from hasp.base.output import add_json_option, check_writable
from hasp.cli.measuring import add_measuring_options, positive
from hasp.cli.traces import add_command, add_trace_options, trace_behind

if TYPE_CHECKING:
    from hasp.advise.advice import Options

NAME = "advise"
HELP = "recommend what to do about a program's locks, and prove it"
DEFAULT_TRACE = "hasp.trace"
DEFAULT_PLAN = "hasp.plan.toml"
CANDIDATES = 3

EPILOG = """\
examples:
  hasp advise hasp.trace                     apply the rules to a recorded run
  hasp advise --write hasp.trace             and a plan for `hasp run --plan`
  hasp advise -- ./program                   record, judge, and compare
  hasp advise --metric 'ops/s: ([0-9.]+)' --threads 1,4 -- ./bench -t {threads}
  hasp advise --simulate xeon-80 hasp.trace  forecast for a machine of 80 cores
  hasp advise --objective latency hasp.trace
  hasp advise --rules                        print rules, thresholds and sources
  hasp advise --set high-from=0.2 hasp.trace

Given a command, Hasp records and judges one run, and then compares the best candidates,
the plan and glibc in interleaved runs. "Best" is within 5 % of the fastest, "harmful"
is more than 15 % behind; "cannot tell" means that the confidence interval includes a
limit.

exit status: 0 fine; 1 when the measurement contradicts the rules; 2 usage, or nothing
could be judged; 130 after Ctrl-C.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp advise`."""
    parser.usage = "hasp advise [options] [TRACE] [-- COMMAND...]"
    parser.epilog = EPILOG
    add_trace_options(parser)
    add = parser.add_argument
    add(
        "--objective",
        choices=("throughput", "latency", "energy"),
        default="throughput",
        help="what to optimise (default: throughput)",
    )
    add("--rules", action="store_true", help="print the rules and thresholds")
    add(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="change a threshold; may be repeated",
    )
    add("--plan", metavar="FILE", help="write the plan to FILE")
    add("--write", action="store_true", help=f"write the plan to {DEFAULT_PLAN}")
    add(
        "--simulate",
        metavar="MACHINE",
        help="forecast the worst site on a machine of `hasp simulate --list`",
    )
    add(
        "--machine",
        metavar="NAME",
        help="the machine that the program will run on: if it has transactions, "
        "eliding locks is considered (default: this one); also simulates whether to "
        "delegate sections there",
    )
    add(
        "--why",
        action="store_true",
        help="also print the rules that fired, their numbers and thresholds, and what "
        "was not measured",
    )
    add_json_option(parser)
    _add_proof_options(parser)
    add_measuring_options(parser)
    add_command(parser)


def _add_proof_options(parser: argparse.ArgumentParser) -> None:
    proof = parser.add_argument_group("with a command")
    add = proof.add_argument
    add(
        "--candidates",
        type=positive,
        default=CANDIDATES,
        metavar="N",
        help=f"locks to try besides glibc and the plan (default: {CANDIDATES})",
    )
    add("--no-proof", action="store_true", help="record and judge only")
    add("--sample", action="store_true", help="record as `hasp profile --sample` does")
    add(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT_TRACE,
        help=f"record into FILE (default: {DEFAULT_TRACE})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the rules, or give advice on a trace or a command."""
    if arguments.rules:
        return _show_rules(arguments)
    options = _options(arguments)
    from hasp.advise.advice import advise_on_command, advise_on_trace

    if not arguments.command:
        return advise_on_trace(options)
    from hasp.cli.measuring import settings_of

    return advise_on_command(options, settings_of(arguments, ()))


def _show_rules(arguments: argparse.Namespace) -> int:
    from hasp.advise.report import print_rules, rules_json
    from hasp.base.output import write_json
    from hasp.profile.diagnosis.rules import load

    rules = load().set(arguments.set)
    if arguments.json:
        write_json(rules_json(rules), arguments.json)
    else:
        print_rules(rules)
    return 0


def _options(arguments: argparse.Namespace) -> Options:
    """Return the options; raises errors about them before anything runs."""
    from hasp.advise.advice import Options
    from hasp.profile.diagnosis.rules import load

    plan = arguments.plan or (DEFAULT_PLAN if arguments.write else None)
    if not arguments.trace and not arguments.command:
        # In `hasp advise --json hasp.trace`, the existing file must not be overwritten.
        arguments.trace = trace_behind(arguments, ("json",))
    if arguments.command:  # the proof runs a comparison
        require("study")
    for name in (arguments.json, plan):
        if name:
            check_writable(name)
    machines = [name for name in (arguments.simulate, arguments.machine) if name]
    if machines:
        from hasp.lab.simulate.machines import machine

        for name in machines:
            machine.load(name)
    load().set(arguments.set)  # raises an error about a threshold
    return Options(
        trace=str(arguments.trace) if arguments.trace else None,
        process=arguments.process,
        output=arguments.output,
        sample=arguments.sample,
        objective=arguments.objective,
        settings=tuple(arguments.set),
        candidates=arguments.candidates,
        proof=not arguments.no_proof,
        plan=plan,
        simulate=arguments.simulate,
        machine=arguments.machine,
        why=arguments.why,
        json=arguments.json,
    )
