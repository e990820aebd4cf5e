# SPDX-License-Identifier: MIT
"""From measures to a verdict: the rules that fire and their consequences per site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from hasp.locks.native import LockInfo
from hasp.profile.diagnosis.choose import Choice, choose, satisfies
from hasp.profile.diagnosis.evaluate import Evaluation, Fired, evaluate
from hasp.profile.diagnosis.features import Features, SiteFeatures
from hasp.profile.diagnosis.other_kinds import other_kinds
from hasp.profile.diagnosis.proven import NOTHING, Proven
from hasp.profile.diagnosis.rules import Advice, Rule, Rules
from hasp.profile.diagnosis.verdict import KindAdvice, SiteVerdict, Verdict
from hasp.profile.diagnosis.words import (
    BOTTLENECKS,
    QUALITIES,
    evidence,
    kept_words,
    lock_words,
    no_bottleneck,
    sentence,
    taken_words,
)

ALTERNATIVES = 4  # algorithms named beside the recommended one
SAID = 2  # bottlenecks in a sentence; the evidence has all
EXAMPLES = 4  # algorithms named for a property to avoid
OTHER_LEVEL = {"high": "extreme", "extreme": "high"}
REPLACEABLE = ("mutex",)  # the rules rank its algorithms; others: other_kinds.py


def judge(
    features: Features,
    rules: Rules,
    locks: Sequence[LockInfo],
    objective: str = "throughput",
    proven: Proven = NOTHING,
) -> Verdict:
    """Apply the rules to the measures; proofs override the rules."""
    found = evaluate(features, rules, objective)
    fired: dict[int | None, list[Fired]] = defaultdict(list)
    for item in found.fired:
        fired[item.site].append(item)
    sites = [
        _site(
            site, fired[site.site], fired[None], rules, locks, found, features, proven
        )
        for site in features.sites
        if site.site in found.hot
        or any(item.rule.bottleneck for item in fired[site.site])
    ]
    kinds = other_kinds(features)
    # The bound that keeps a mutex's algorithm does not speak of other kinds.
    changed = {advice.site for advice in kinds}
    sites = [replace(site, keep="") if site.site in changed else site for site in sites]
    sites.sort(key=_weight, reverse=True)
    program = [item.rule for item in fired[None]]
    names = {site.site: site.name for site in features.sites}
    return Verdict(
        sentence=_sentence(features, sites, kinds, found.locks_matter),
        evidence=tuple(evidence(found.fired, names)),
        locks_matter=found.locks_matter and bool(sites),
        bottlenecks=_distinct([name for site in sites for name in site.bottlenecks]),
        fired=found.fired,
        unknown=found.unknown,
        hints=_distinct([rule.hint for rule in program]),
        cautions=_distinct([rule.caution for rule in program]),
        sites=tuple(sites),
        features=features,
        objective=objective,
        other_kinds=kinds,
        winner=proven.winner,
    )


def _distinct(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))


def _sentence(
    features: Features,
    sites: Sequence[SiteVerdict],
    kinds: Sequence[KindAdvice],
    locks_matter: bool,
) -> str:
    lock = features.lock
    if not sites:
        return no_bottleneck(features)
    first = sites[0]
    said = first.bottlenecks[:SAID]
    trouble = ", and ".join(BOTTLENECKS[name] for name in said)
    if not locks_matter:
        if first.keep:
            return no_bottleneck(features)
        answer = _answer(first, kinds, lock)
        return f"{no_bottleneck(features)}; {trouble} at {first.name}: {answer}"
    if not trouble:
        trouble = f"{'now and then' if first.level else 'hardly ever'} threads wait"
    return sentence(
        first.features, first.bottlenecks, trouble, _answer(first, kinds, lock)
    )


def _weight(site: SiteVerdict) -> tuple[bool, float]:
    return bool(site.bottlenecks), site.cost


def _kept(choice: Choice, fired: Sequence[Fired]) -> str:
    """Return the reason against a change of algorithm, unless a rule overrides it."""
    dropped = {name for item in choice.applied for name in item.drops}
    reasons = [
        item.rule.keep
        for item in fired
        if item.rule.keep and not {item.rule.id, item.rule.stage} & dropped
    ]
    return next(iter(reasons), "")


def _site(
    site: SiteFeatures,
    fired: Sequence[Fired],
    program: Sequence[Fired],
    rules: Rules,
    locks: Sequence[LockInfo],
    found: Evaluation,
    features: Features,
    proven: Proven,
) -> SiteVerdict:
    choice = choose(fired, rules, locks)
    loud = [item.rule for item in fired if not item.rule.silent]
    asked = [pair for pair in choice.advice if not _silent(pair[0], fired)]
    bottlenecks = _distinct([rule.bottleneck for rule in loud])
    answerable = site.kind in REPLACEABLE and bool(asked or _ranked(fired))
    names = [lock.name for lock in choice.locks] if answerable else []
    cautions = [rule.caution for rule in loud]
    by_rules = names[0] if names else None
    names = proven.ranked(names)
    recommended = names[0] if names else None
    content = site.site not in found.hot and _content(
        loud, asked, features.lock, rules, locks
    )
    winner = proven.winner if answerable else None
    kept = "" if winner else _kept(choice, fired)
    if not (kept or winner) and proven.keeps(features.lock, by_rules):
        kept = proven.keeps(features.lock, by_rules)
    if kept or content or recommended == features.lock:
        recommended = None
    alternatives = names[1 : 1 + ALTERNATIVES] if recommended else []
    if any(rule.id == "E6.band" for rule in loud) and recommended:
        alternatives = _both(fired, names, rules, locks, features.nodes)
    other = _also(fired, program, rules, locks) if recommended else None
    if other and other.name != recommended and _collapses(recommended, locks):
        alternatives = [other.name, *(n for n in alternatives if n != other.name)]
        cautions.append(f"if other programs share the CPUs, use {other.name}")
    alternatives = [name for name in alternatives if not proven.refutes(name)]
    return SiteVerdict(
        site=site.site,
        name=site.name,
        kind=site.kind,
        features=site,
        level=next((rule.level for rule in loud if rule.level), ""),
        bottlenecks=bottlenecks,
        advice=tuple(advice.words for _, advice in asked),
        recommendation=recommended,
        keep=kept_words(kept, site, features.lock) if kept else "",
        alternatives=tuple(alternatives[:ALTERNATIVES]),
        avoid=_distinct([_avoid(item, rules, locks) for _, item in asked])
        if answerable
        else (),
        why=tuple(rule.title for rule in loud) + _reasons(choice),
        hints=_distinct([rule.hint for rule in loud]),
        cautions=_distinct(cautions),
        conflicts=tuple(
            f"{advice.words} ({source})" for source, advice in choice.conflicts
        ),
    )


def _also(
    fired: Sequence[Fired],
    program: Sequence[Fired],
    rules: Rules,
    locks: Sequence[LockInfo],
) -> LockInfo | None:
    """Return the answer if the rules named by `also` had fired too."""
    pointed = {item.rule.also for item in program if item.rule.also}
    more = [Fired(rule, None, ()) for rule in rules.rules if rule.id in pointed]
    if not more or any(item.rule in (one.rule for one in more) for item in fired):
        return None
    return choose([*fired, *more], rules, locks).locks[0]


def _collapses(name: str | None, locks: Sequence[LockInfo]) -> bool:
    return any(lock.name == name and lock.collapses for lock in locks)


def _content(
    loud: Sequence[Rule],
    asked: Sequence[tuple[str, Advice]],
    present: str,
    rules: Rules,
    locks: Sequence[LockInfo],
) -> bool:
    """Return true if the present algorithm follows the advice well enough."""
    lock = next((lock for lock in locks if lock.name == present), None)
    quiet = all(rule.quiet or not rule.bottleneck for rule in loud)
    return (
        quiet
        and lock is not None
        and all(satisfies(lock, advice, rules) for _, advice in asked)
    )


def _silent(source: str, fired: Sequence[Fired]) -> bool:
    return any(item.rule.id == source and item.rule.silent for item in fired)


def _ranked(fired: Sequence[Fired]) -> bool:
    return any(item.rule.order for item in fired)


def _reasons(choice: Choice) -> tuple[str, ...]:
    return tuple(item.why for item in choice.applied)


def _avoid(advice: Advice, rules: Rules, locks: Sequence[LockInfo]) -> str:
    """Return what a piece of advice excludes, with examples."""
    others = [
        lock.name
        for lock in locks
        if not lock.is_reference and not satisfies(lock, advice, rules)
    ]
    if not others:
        return ""
    shown = ", ".join(others[:EXAMPLES])
    more = ", ..." if len(others) > EXAMPLES else ""
    kind = QUALITIES[advice.quality]
    kind = f"locks that are not {kind}" if advice.wanted else f"{kind} locks"
    return f"{kind} ({shown}{more})"


def _both(
    fired: Sequence[Fired],
    names: Sequence[str],
    rules: Rules,
    locks: Sequence[LockInfo],
    nodes: int,
) -> list[str]:
    """Return the other level's answer as second choice, inside the hysteresis band."""
    level = next((item for item in fired if item.rule.level in OTHER_LEVEL), None)
    if level is None:
        return list(names[1 : 1 + ALTERNATIVES])
    other = OTHER_LEVEL[level.rule.level]
    found = [
        rule for rule in rules.rules if rule.level == other and rule.speaks_of(nodes)
    ]
    swapped = [
        Fired(rule, item.site, item.numbers)
        for item in fired
        for rule in (found if item is level else (item.rule,))
    ]
    answer = [lock.name for lock in choose(swapped, rules, locks).locks]
    ordered = [answer[0], *names[1:], *answer[1:]]
    return [name for name in dict.fromkeys(ordered) if name != names[0]][:ALTERNATIVES]


def _answer(site: SiteVerdict, kinds: Sequence[KindAdvice], lock: str) -> str:
    """Return the advice for the worst site."""
    for advice in kinds:
        if advice.site == site.site:
            return f"take {advice.algorithm} (`hasp run {advice.option}`)"
    if site.recommendation:
        return taken_words(site.recommendation, site.features)
    if site.keep:
        return "; ".join([site.keep, *_instead(site)])
    without = [
        QUALITIES[words.split(" ")[1]]
        for words in site.advice
        if words.startswith(("exclude", "avoid"))
    ]
    if without:
        worse = " and ".join(without)
        return f"keep {lock_words(lock)}; {worse} locks would be slower"
    return "; ".join(_instead(site) or [f"keep {lock_words(lock)}"])


def _instead(site: SiteVerdict) -> list[str]:
    """Return the first remedy other than another algorithm."""
    return [f"consider: {hint}" for hint in site.hints[:1]]
