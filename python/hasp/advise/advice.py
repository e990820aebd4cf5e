# SPDX-License-Identifier: MIT
"""Advice on a trace or a command: judge, prove, keep the proofs, print the advice."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hasp.advise.report import (
    print_delegation,
    print_forecast,
    print_proof,
    print_verdict,
)
from hasp.base.errors import EXIT_FINDING, EXIT_FINE, HaspError
from hasp.base.output import STDOUT, note, write_json
from hasp.base.signals import interrupt_on_signals
from hasp.launch.transactions import works
from hasp.locks import native
from hasp.profile.diagnosis import advise
from hasp.profile.diagnosis.judge import judge
from hasp.profile.diagnosis.proven import Proven
from hasp.profile.diagnosis.rules import Rules, load
from hasp.profile.diagnosis.verdict import Verdict
from hasp.profile.model.kinds import Kind
from hasp.profile.model.profile import Profile
from hasp.profile.report import headline
from hasp.profile.report.source import open_profile

if TYPE_CHECKING:
    from hasp.advise.delegation import Gain
    from hasp.advise.forecast import Forecast
    from hasp.advise.proof import Proof
    from hasp.compare.settings import Settings
    from hasp.compare.store import Comparison

DEFAULT_TRACE = "hasp.trace"
DEFAULT_PLAN = "hasp.plan.toml"
DELEGATION = ("E9.delegate", "E9.delegate-all")  # rules by thresholds


@dataclass(frozen=True)
class Options:
    """The options of `hasp advise`."""

    trace: str | None = None  # recorded earlier
    process: str | None = None
    output: str = DEFAULT_TRACE  # where a command is recorded
    sample: bool = False
    objective: str = "throughput"
    settings: tuple[str, ...] = ()  # changed thresholds, `name=value`
    candidates: int = 3
    proof: bool = True
    plan: str | None = None
    simulate: str | None = None
    machine: str | None = None  # that the program is to run on; None: this one
    why: bool = False
    json: str | None = None

    @property
    def has_transactions(self) -> bool:
        """True if the machine that the program is to run on has transactions."""
        if self.machine is None:
            return works()
        # Imported here because only --machine needs it.
        from hasp.lab.simulate.machines import machine

        return machine.load(self.machine).transactional

    @property
    def rules(self) -> Rules:
        """The rules with the changed thresholds."""
        return load().set(self.settings)


@dataclass(frozen=True)
class Answer:
    """The results of one call."""

    profile: Profile
    verdict: Verdict
    comparison: Comparison | None = None
    proof: Proof | None = None


def advise_on_trace(options: Options) -> int:
    """Judge a recorded run and print the advice; returns the exit status."""
    profile = _opened(options)
    return deliver(Answer(profile, _judged(profile, options)), options)


def advise_on_command(options: Options, settings: Settings) -> int:
    """Record a command, judge it, and prove the advice; returns the exit status."""
    # Comparisons need the extra `study`; advice from a trace does not.
    from hasp.compare.recorded_run import recorded

    interrupt_on_signals()
    fewer = None
    if options.trace:
        profile = _opened(options)
    else:
        trace = Path(options.output)
        counts = sorted(settings.threads, key=lambda count: count or 0)
        if len(counts) > 1:
            fewer = recorded(settings, counts[0], trace, sample=options.sample)
        profile = recorded(settings, counts[-1], trace, sample=options.sample)
    verdict = _judged(profile, options, fewer)
    if not options.proof:
        return deliver(Answer(profile, verdict), options)
    note(headline.verdict(profile).sentence)
    return deliver(proved(profile, verdict, settings, options), options)


def _opened(options: Options) -> Profile:
    return open_profile(Path(options.trace or DEFAULT_TRACE), options.process)


def _judged(
    profile: Profile, options: Options, fewer: Profile | None = None
) -> Verdict:
    return advise(
        profile,
        options.rules,
        options.objective,
        fewer,
        transactions=options.has_transactions,
    )


def proved(
    profile: Profile, verdict: Verdict, settings: Settings, options: Options
) -> Answer:
    """Compare the candidates, keep the proofs, and judge again with the results."""
    # Comparisons need the extra `study`; advice from a trace does not.
    from hasp.advise import trial
    from hasp.advise.lock_proofs import lock_proofs
    from hasp.advise.planning import plan_of
    from hasp.advise.proof import prove
    from hasp.profile.model import proofs

    rules = options.rules
    proven = Proven(profile.proofs)
    locks = trial.candidates(verdict, rules, options.candidates, proven)
    chosen = plan_of(verdict, profile)
    comparison = trial.compare(settings, locks, chosen if chosen.entries else None)
    present = verdict.features.lock or native.REFERENCE
    proof = prove(comparison, verdict.recommendation, rules, present)
    found = lock_proofs(comparison, proof, profile.subject, present)
    kept = proofs.add(Path(options.trace or options.output), found)
    note(f"the proofs are kept in {kept}")
    measured = dataclasses.replace(
        verdict.features,
        interleave_gain=_interleaved(settings, verdict, comparison),
        lock_variation=proof.lock_variation,
        fewer_threads_gain=proof.fewer_threads_gain,
    )
    proven = Proven((*profile.proofs, *found))
    again = judge(measured, rules, native.locks(), options.objective, proven)
    return Answer(profile, again, comparison, proof)


def _interleaved(
    settings: Settings, verdict: Verdict, comparison: Comparison
) -> float | None:
    """Measure the gain from interleaving memory, if rule E5 needs it."""
    # Comparisons need the extra `study`; advice from a trace does not.
    from hasp.advise.interleave import interleave_gain

    asked = any("interleave_gain" in item.missing for item in verdict.unknown)
    if not asked or comparison.interrupted:
        return None
    return interleave_gain(settings, verdict.features.nodes)


def deliver(answer: Answer, options: Options) -> int:
    """Print the results and write the files; returns the exit status."""
    forecast = _forecast(answer, options)
    gain = _delegation(answer.profile, options)
    if gain:
        answer = dataclasses.replace(answer, verdict=_without_hints(answer.verdict))
    if options.plan:
        _write_plan(answer, options.plan)
    if options.json:
        write_json([_record(answer, forecast, gain)], options.json)
    if options.json != STDOUT:
        print_verdict(answer.verdict, answer.profile, why=options.why)
        if answer.comparison and answer.proof:
            print_proof(answer.comparison, answer.proof)
        if forecast:
            print_forecast(forecast)
        if gain:
            print_delegation(gain)
    if answer.comparison is not None and answer.comparison.interrupted:
        raise KeyboardInterrupt
    disagrees = answer.proof is not None and answer.proof.agreement == "disagree"
    return EXIT_FINDING if disagrees else EXIT_FINE


def _delegation(profile: Profile, options: Options) -> Gain | None:
    """Simulate the costliest mutex under executors, if a machine is named."""
    if options.machine is None:
        return None
    # Only --machine needs these.
    from hasp.advise.delegation import gain_of
    from hasp.lab.simulate.machines import machine

    mutexes = (site for site in profile.sites if site.kind is Kind.MUTEX)
    site = next((site for site in mutexes if site.total), None)
    return gain_of(profile, site, machine.load(options.machine)) if site else None


def _without_hints(verdict: Verdict) -> Verdict:
    """Return the verdict without the hints to delegate, which a simulation replaces."""
    kept = tuple(one for one in verdict.fired if one.rule.id not in DELEGATION)
    dropped = {one.rule.hint for one in verdict.fired if one.rule.id in DELEGATION}

    def without(hints: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(hint for hint in hints if hint not in dropped)

    sites = tuple(
        dataclasses.replace(site, hints=without(site.hints)) for site in verdict.sites
    )
    return dataclasses.replace(
        verdict, fired=kept, hints=without(verdict.hints), sites=sites
    )


def _record(
    answer: Answer, forecast: Forecast | None, gain: Gain | None
) -> dict[str, Any]:
    record = answer.verdict.as_json()
    record["diagnosis"] = headline.verdict(answer.profile).record
    record["proofs"] = [dataclasses.asdict(one) for one in answer.profile.proofs]
    if answer.proof:
        record["proof"] = answer.proof.as_json()
    if forecast:
        # Only --simulate needs these.
        from hasp.advise.forecast import as_json

        record["forecast"] = as_json(forecast)
    if gain:
        record["delegation"] = gain.as_json()
    return record


def _forecast(answer: Answer, options: Options) -> Forecast | None:
    """Simulate the worst site; None without --simulate or without a site."""
    if not options.simulate:
        return None
    # Only --simulate needs these.
    from hasp.advise.forecast import forecast
    from hasp.advise.trial import candidates
    from hasp.lab.simulate.machines import machine

    named = machine.load(options.simulate)
    if not answer.verdict.sites:
        note("there is no contended lock to simulate")
        return None
    number = answer.verdict.sites[0].site
    site = next(site for site in answer.profile.sites if site.number == number)
    rules = load()
    locks = candidates(answer.verdict, rules, options.candidates)
    levels = [name for rule in rules.rules if rule.level for name in rule.order[:1]]
    mutexes = [name for name in locks if ":" not in name]  # only these are simulated
    return forecast(answer.profile, site, named, [*mutexes, *levels])


def _write_plan(answer: Answer, name: str) -> None:
    # Only --plan needs these.
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
