# SPDX-License-Identifier: MIT
"""Verdicts, proofs, forecasts and rules on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from hasp.base.output import console, table
from hasp.locks.kinds import kind_of
from hasp.profile.diagnosis.rules import Condition, Rule, Rules
from hasp.profile.diagnosis.unmeasured import unmeasured_lines
from hasp.profile.diagnosis.verdict import KindAdvice, SiteVerdict, Verdict
from hasp.profile.diagnosis.words import quantity
from hasp.profile.report import headline

if TYPE_CHECKING:
    from rich.console import Console

    # Imported here because only --simulate needs it.
    from hasp.advise.delegation import Gain
    from hasp.advise.forecast import Forecast
    from hasp.advise.proof import Proof
    from hasp.compare.store import Comparison
    from hasp.profile.model.profile import Profile
    from hasp.profile.model.proofs import LockProof

ELISION = "E9.elide"  # the rule that proposes it
MOST_SITES = 5
# In the text without --why:
MOST_ALTERNATIVES = 2
MOST_OTHERS = 4
MOST_KINDS = 2
RULES_SCHEMA = "hasp.rules/1"


def say(out: Console, text: str, indent: str = "", style: str = "") -> None:
    """Print a paragraph with a hanging indent."""
    blank = " " * len(indent)
    lines = wrap(text, out.width, initial_indent=indent, subsequent_indent=blank)
    out.print("\n".join(lines), style=style or None, soft_wrap=True)


def print_verdict(verdict: Verdict, profile: Profile, *, why: bool) -> None:
    """Print the advice in at most 15 lines; `why` adds the rules and their numbers.

    The first sentence is that of `hasp profile`: the lock, the cause, and the remedy in
    the source. The lock algorithm comes second.
    """
    out = console()
    say(out, headline.verdict(profile).sentence, style="bold")
    for line in short(verdict, profile):
        say(out, line, "  ")
    if why:
        _print_reasons(verdict, out)


def short(verdict: Verdict, profile: Profile) -> list[str]:
    """Return the lines below the sentence: the lock, cautions, and other sites."""
    site = next(iter(verdict.advised or verdict.sites), None)
    lines = []
    if verdict.winner:
        command = f"hasp run --lock {verdict.winner.lock} -- COMMAND"
        lines.append(f"the program: {command} {_measured(verdict.winner)}")
    elif site is not None:
        lines += _lock_lines(site, profile)
    lines += _elision_lines(verdict)
    for other in verdict.other_kinds[:MOST_KINDS]:
        noun = kind_of(other.kind).noun
        lines.append(
            f"the {noun} {other.name}: hasp run {other.option} -- COMMAND "
            f"({other.because})"
        )
    lines += [f"but: {caution}" for caution in verdict.cautions[:1]]
    others = [one.name for one in verdict.sites if one is not site][:MOST_OTHERS]
    if others:
        lines.append(f"also: {', '.join(others)}")
    if profile.stale_proofs:
        lines.append(profile.stale_proofs)
    lines.append("--why prints the rules, their numbers, and what was not measured")
    return lines


def _elision_lines(verdict: Verdict) -> list[str]:
    """Return a line for each site that the rules propose to elide."""
    names = {site.site: site.name for site in verdict.sites}
    return [
        f"the lock of {names[fired.site]}: {fired.rule.hint}"
        for fired in verdict.fired
        if fired.rule.id == ELISION and fired.site in names
    ][:MOST_OTHERS]


def _lock_lines(site: SiteVerdict, profile: Profile) -> list[str]:
    """Return what to do about the lock algorithm, and how sure that is."""
    if site.recommendation is None:
        return [f"the lock of {site.name}: {site.keep}"] if site.keep else []
    proof = next(
        (one for one in profile.proofs if one.lock == site.recommendation), None
    )
    command = f"hasp run --lock {site.recommendation} -- COMMAND"
    if proof is not None:
        return [f"the lock of {site.name}: {command} {_measured(proof)}"]
    lines = [f"the lock of {site.name}: {command}"]
    if site.alternatives:
        names = [site.recommendation, *site.alternatives[:MOST_ALTERNATIVES]]
        together = f"{', '.join(names[:-1])} and {names[-1]}"
        lines.append(
            f"the profile cannot tell {together} apart: `hasp tune -- COMMAND` "
            "measures which is best"
        )
    return lines


def _measured(proof: LockProof) -> str:
    return f"was {proof.words} as fast ({proof.metric})"


def _print_reasons(verdict: Verdict, out: Console) -> None:
    """Print the rules that fired, advice for each site, and what was not measured."""
    if verdict.evidence:
        heading(out, "rules that fired")
        for line in verdict.evidence:
            say(out, line, "- ")
    for site in verdict.sites[:MOST_SITES]:
        _print_site(site, verdict.other_kinds, out)
    more = len(verdict.sites) - MOST_SITES
    if more > 0:
        out.print()
        say(out, f"{more} more sites are in --json")
    advice = [*verdict.hints, *verdict.cautions]
    if advice:
        heading(out, "the program")
        for line in advice:
            say(out, line, "- ")
    if verdict.unknown:
        heading(out, "rules that could not be judged because a measure is missing")
        for line in unmeasured_lines(verdict.unknown):
            say(out, line, "- ")


def capital(text: str) -> str:
    """Return the text with its first letter capitalised."""
    return text[:1].upper() + text[1:]


def heading(out: Console, text: str) -> None:
    """Print a heading after an empty line."""
    out.print()
    out.print(text, style="bold")


def _print_site(site: SiteVerdict, kinds: Sequence[KindAdvice], out: Console) -> None:
    heading(out, site.name)

    def line(name: str, words: str) -> None:
        if words:
            say(out, words, f"  {name:14}")

    line(
        "trouble", ", ".join(site.bottlenecks) or "none that another lock would remove"
    )
    if site.keep:
        line("keep", site.keep.removeprefix("keep "))
    else:
        taken = next((one.option for one in kinds if one.site == site.site), None)
        line("take", taken or site.recommendation or "what it has")
    line("or", ", ".join(site.alternatives))
    for kind in site.avoid:
        line("avoid", kind)
    for hint in site.hints:
        line("remedy", hint)
    for caution in site.cautions:
        line("but", caution)
    for conflict in site.conflicts:
        line("gave way", conflict)


def print_rules(rules: Rules) -> None:
    """Print every rule with its conditions, thresholds and source."""
    out = console()
    for rule in rules.rules:
        say(out, rule.title, f"{rule.id}  ", style="bold")
        for word, conditions in (("if", rule.all), ("and one of", rule.any)):
            for condition in conditions:
                say(out, condition_words(condition, rules), f"    {word} ")
        for consequence in consequences(rule):
            say(out, consequence, "    then ")
        say(out, rule.source, "    source: ")
    for combination in rules.combinations:
        having = " and ".join(combination.having)
        say(out, combination.why, f"{combination.id}  ", style="bold")
        what = ", ".join(combination.only) or "all advice"
        dropped = ", ".join(combination.drops)
        say(out, f"{having}: {what} of {dropped} is set aside", "    if ")
        say(out, combination.source, "    source: ")
    heading(out, "thresholds (change one with --set NAME=VALUE)")
    for threshold in rules.thresholds.values():
        value = quantity(threshold.value, threshold.unit)
        words = f"{threshold.about} ({threshold.basis}: {threshold.source})"
        say(out, words, f"  {threshold.name} = {value}: ")


def condition_words(condition: Condition, rules: Rules) -> str:
    """`waiters_share >= high-from (0.16)`."""
    limit = f"{rules.limit(condition.threshold):g}"
    words = f"{condition.measure} {condition.comparison} {condition.threshold}"
    return f"{words} ({limit})"


def consequences(rule: Rule) -> Sequence[str]:
    """Return the effects of a rule as text."""
    found = [advice.words for advice in rule.advice]
    if rule.bottleneck:
        found.insert(0, f"bottleneck {rule.bottleneck}")
    if rule.order:
        found.append(f"order {', '.join(rule.order)}")
    for word, text in (("hint", rule.hint), ("caution", rule.caution)):
        if text:
            found.append(f"{word}: {text}")
    if rule.keep:
        found.append(f"keep the lock, whatever other rules advise: {rule.keep}")
    if rule.stop:
        found.append("stop: locks are not the bottleneck")
    return found


def rules_json(rules: Rules) -> list[dict[str, object]]:
    """The thresholds and then the rules, as records."""
    records: list[dict[str, object]] = [
        {
            "schema": RULES_SCHEMA,
            "kind": "threshold",
            "name": item.name,
            "value": item.value,
            "unit": item.unit,
            "basis": item.basis,
            "source": item.source,
            "about": item.about,
        }
        for item in rules.thresholds.values()
    ]
    records += [
        {
            "schema": RULES_SCHEMA,
            "kind": "rule",
            "id": rule.id,
            "title": rule.title,
            "all": [condition_words(item, rules) for item in rule.all],
            "any": [condition_words(item, rules) for item in rule.any],
            "consequences": list(consequences(rule)),
            "source": rule.source,
        }
        for rule in rules.rules
    ]
    return records


def print_proof(comparison: Comparison, proof: Proof) -> None:
    """Print the comparison's table and its verdict on the advice."""
    # Imported here because only proofs need them.
    from hasp.advise.proof import shown
    from hasp.compare.doubts import doubts
    from hasp.compare.report import headline, interval, quantity, times
    from hasp.compare.summary import summarise

    out = console()
    heading(out, "proof: interleaved runs")
    out.print(headline(comparison), soft_wrap=True)
    measure = comparison.primary
    sweep = len(comparison.settings.threads) > 1
    unit = f", {measure.unit}" if measure.unit not in ("", "s", "bytes") else ""
    form = table(title=f"{measure.name}{unit}; times worse than the fastest")
    for name in ("threads", "lock") if sweep else ("lock",):
        form.add_column(name, no_wrap=True)
    for name in ("median", "worse", "95 % interval"):
        form.add_column(name, justify="right", no_wrap=True)
    form.add_column("verdict")
    for standing in proof.standings:
        place = [str(standing.cell.threads)] if sweep else []
        form.add_row(
            *place,
            standing.name,
            quantity(standing.median, measure.unit),
            times(standing.behind) or ("1.00" if standing.median else ""),
            interval(standing.behind),
            standing.verdict,
        )
    out.print(form)
    out.print()
    for line in proof.words:
        say(out, capital(line) + ".")
    for doubt in doubts(comparison, summarise(comparison)):
        words = doubt.words
        for cell in comparison.settings.cells:
            words = words.replace(cell.lock, shown(cell).lock)
        say(out, f"warning: {words}")


def print_delegation(gain: Gain) -> None:
    """Print whether to delegate the sections of the costliest mutex."""
    out = console()
    heading(out, "delegation (simulated)")
    say(out, gain.sentence, "- ")


def print_forecast(forecast: Forecast) -> None:
    """Print simulated results, labelled as such on every line."""
    # Imported here because only --simulate needs it.
    from hasp.advise.forecast import words

    out = console()
    heading(out, "forecast (simulated)")
    for line in words(forecast):
        say(out, line, "- ")
