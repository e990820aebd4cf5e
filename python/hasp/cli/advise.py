# SPDX-License-Identifier: MIT
"""`hasp advise`: advice on a program's locks, proven by a comparison."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hasp.base.errors import EXIT_FINDING, HaspError
from hasp.base.extras import require
from hasp.base.output import STDOUT, add_json_option, check_writable, note
from hasp.cli.measuring import add_measuring_options, positive
from hasp.cli.traces import add_trace_options, trace_behind

if TYPE_CHECKING:
    from hasp.advise.forecast import Forecast
    from hasp.advise.proof import Proof
    from hasp.compare.settings import Settings
    from hasp.compare.store import Comparison
    from hasp.profile.diagnosis.rules import Rules
    from hasp.profile.diagnosis.verdict import Verdict
    from hasp.profile.model.profile import Profile

NAME = "advise"
HELP = "recommend what to do about a program's locks, and prove it"
DEFAULT_TRACE = "hasp.trace"
DEFAULT_PLAN = "hasp.plan.toml"
CANDIDATES = 3

EPILOG = """\
examples:
  hasp advise hasp.trace                     apply the rules to a recorded run
  hasp advise --write hasp.trace             also write a plan for `hasp run --plan`
  hasp advise -- ./program                   record, judge, and prove by a comparison
  hasp advise --metric 'ops/s: ([0-9.]+)' --threads 1,2,4 -- ./bench -t {threads}
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
    add_json_option(parser)
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
    add_measuring_options(parser)
    # Not REMAINDER as in other verbs, because options may follow the TRACE.
    parser.add_argument("command", nargs="*", metavar="COMMAND", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Judge the locks, prove the advice, and write the requested files."""
    from hasp.profile.diagnosis.rules import load

    rules = load().set(arguments.set)
    if arguments.rules:
        return _show_rules(rules, arguments)
    _check(arguments)
    if not arguments.command:
        profile = _open(arguments)
        return _report(_Answer(profile, _judged(profile, rules, arguments)), arguments)
    return _advise_command(rules, arguments)


def _show_rules(rules: Rules, arguments: argparse.Namespace) -> int:
    from hasp.advise.report import print_rules, rules_json
    from hasp.base.output import write_json

    if arguments.json:
        write_json(rules_json(rules), arguments.json)
    else:
        print_rules(rules)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raise errors about options before anything runs."""

    if arguments.write and not arguments.plan:
        arguments.plan = DEFAULT_PLAN
    if not arguments.trace and not arguments.command:
        # In `hasp advise --json hasp.trace`, the existing file must not be overwritten.
        arguments.trace = trace_behind(arguments, ("json",))
    if arguments.command:  # the proof runs a comparison
        require("study")
    for name in (arguments.json, arguments.plan):
        if name:
            check_writable(name)
    if arguments.simulate:
        from hasp.lab.simulate.machines import machine

        machine.load(arguments.simulate)


def _open(arguments: argparse.Namespace) -> Profile:
    from hasp.profile.report.source import open_profile

    return open_profile(Path(arguments.trace or DEFAULT_TRACE), arguments.process)


def _judged(
    profile: Profile,
    rules: Rules,
    arguments: argparse.Namespace,
    fewer: Profile | None = None,
) -> Verdict:
    from hasp.profile.diagnosis import advise

    return advise(profile, rules, arguments.objective, fewer)


@dataclasses.dataclass(frozen=True)
class _Answer:
    """The results of one call."""

    profile: Profile
    verdict: Verdict
    comparison: Comparison | None = None
    proof: Proof | None = None


def _advise_command(rules: Rules, arguments: argparse.Namespace) -> int:
    from hasp.base.signals import interrupt_on_signals
    from hasp.cli.measuring import settings_of
    from hasp.compare.recorded_run import recorded

    settings = settings_of(arguments, ())
    interrupt_on_signals()
    fewer = None
    if arguments.trace:
        profile = _open(arguments)
    else:
        trace = Path(arguments.output)
        counts = sorted(settings.threads, key=lambda count: count or 0)
        if len(counts) > 1:
            fewer = recorded(settings, counts[0], trace, sample=arguments.sample)
        profile = recorded(settings, counts[-1], trace, sample=arguments.sample)
    verdict = _judged(profile, rules, arguments, fewer)
    if arguments.no_proof:
        return _report(_Answer(profile, verdict), arguments)
    note(verdict.sentence)
    return _report(_proved(profile, verdict, settings, rules, arguments), arguments)


def _proved(
    profile: Profile,
    verdict: Verdict,
    settings: Settings,
    rules: Rules,
    arguments: argparse.Namespace,
) -> _Answer:
    """Compare the candidates, and judge again with the results."""

    from hasp.advise import trial
    from hasp.advise.planning import plan_of
    from hasp.advise.proof import prove
    from hasp.locks import native
    from hasp.profile.diagnosis.judge import judge

    locks = trial.candidates(verdict, rules, arguments.candidates)
    chosen = plan_of(verdict, profile)
    comparison = trial.compare(settings, locks, chosen if chosen.entries else None)
    present = verdict.features.lock or native.REFERENCE
    proof = prove(comparison, verdict.recommendation, rules, present)
    measured = dataclasses.replace(
        verdict.features,
        interleave_gain=_interleaved(settings, verdict, comparison),
        lock_variation=proof.lock_variation,
        fewer_threads_gain=proof.fewer_threads_gain,
    )
    again = judge(measured, rules, native.locks(), arguments.objective)
    return _Answer(profile, again, comparison, proof)


def _interleaved(
    settings: Settings, verdict: Verdict, comparison: Comparison
) -> float | None:
    """Measure the gain from interleaving memory, if rule E5 needs it."""
    from hasp.advise.interleave import interleave_gain

    asked = any("interleave_gain" in item.missing for item in verdict.unknown)
    if not asked or comparison.interrupted:
        return None
    return interleave_gain(settings, verdict.features.nodes)


def _report(answer: _Answer, arguments: argparse.Namespace) -> int:
    """Print the results and write the files; returns the exit status."""
    from hasp.advise.report import print_forecast, print_proof, print_verdict
    from hasp.base.output import write_json

    forecast = _forecast(answer, arguments)
    if arguments.plan:
        _write_plan(answer, arguments.plan)
    if arguments.json:
        write_json(_records(answer, forecast), arguments.json)
    if arguments.json != STDOUT:
        print_verdict(answer.verdict)
        if answer.comparison and answer.proof:
            print_proof(answer.comparison, answer.proof)
        if forecast:
            print_forecast(forecast)
    if answer.comparison is not None and answer.comparison.interrupted:
        raise KeyboardInterrupt
    disagrees = answer.proof is not None and answer.proof.agreement == "disagree"
    return EXIT_FINDING if disagrees else 0


def _records(answer: _Answer, forecast: Forecast | None) -> list[dict[str, Any]]:
    record = answer.verdict.as_json()
    if answer.proof:
        record["proof"] = answer.proof.as_json()
    if forecast:
        from hasp.advise.forecast import as_json

        record["forecast"] = as_json(forecast)
    return [record]


def _forecast(answer: _Answer, arguments: argparse.Namespace) -> Forecast | None:
    """Simulate the worst site; None without --simulate or without a site."""
    if not arguments.simulate:
        return None
    from hasp.advise.forecast import forecast
    from hasp.advise.trial import candidates
    from hasp.lab.simulate.machines import machine
    from hasp.profile.diagnosis.rules import load

    named = machine.load(arguments.simulate)
    if not answer.verdict.sites:
        note("there is no contended lock to simulate")
        return None
    number = answer.verdict.sites[0].site
    site = next(site for site in answer.profile.sites if site.number == number)
    locks = candidates(answer.verdict, load(), arguments.candidates)
    levels = [name for rule in load().rules if rule.level for name in rule.order[:1]]
    return forecast(answer.profile, site, named, [*locks, *levels])


def _write_plan(answer: _Answer, name: str) -> None:
    from hasp.advise.planning import plan_of, unplanned
    from hasp.locks.site_plan.toml_file import save

    plan = plan_of(answer.verdict, answer.profile)
    for site in unplanned(answer.verdict, answer.profile):
        note(f"{site} is not in the plan: the trace does not record its creation")
    if not plan.entries:
        if Path(name).exists():
            raise HaspError(
                f"the plan would be empty, and {name} already exists",
                "no lock is recommended: drop --plan",
            )
        note("no lock is recommended, so no plan is written")
        return
    save(plan, Path(name))
    note(f"wrote {name}; use it with: hasp run --plan {name} -- COMMAND")
