# SPDX-License-Identifier: MIT
"""Evaluate the rules on a program and its sites."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hasp.profile.diagnosis.features import Features, SiteFeatures
from hasp.profile.diagnosis.measures import measures
from hasp.profile.diagnosis.rules import Condition, Rule, Rules


@dataclass(frozen=True)
class Number:
    """A measure with its threshold."""

    measure: str
    value: float
    comparison: str
    threshold: str
    limit: float


@dataclass(frozen=True)
class Fired:
    """A rule that holds for a site or, if None, for the program."""

    rule: Rule
    site: int | None
    numbers: tuple[Number, ...]


@dataclass(frozen=True)
class Unknown:
    """A rule without a result, and the measures that were missing."""

    rule: Rule
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """The result of all rules on one profile."""

    fired: tuple[Fired, ...]
    unknown: tuple[Unknown, ...]
    locks_matter: bool
    hot: frozenset[int]  # site numbers


class _Evaluator:
    """Collects rules that fire, and each rule without a result once."""

    def __init__(self, features: Features, rules: Rules, objective: str) -> None:
        self.features = features
        self.rules = rules
        self.objective = objective
        self.fired: list[Fired] = []
        self.missing: dict[str, set[str]] = {}

    def applies(self, rule: Rule, site: SiteFeatures | None) -> bool:
        """Return true if the rule concerns this machine, objective and algorithm."""
        return (
            (not rule.objective or rule.objective == self.objective)
            and rule.speaks_of(self.features.nodes)
            and (not rule.kinds or (site is not None and site.kind in rule.kinds))
        )

    def judge(self, rule: Rule, site: SiteFeatures | None) -> None:
        """Record the rule if it fires, or its missing measures."""
        if not self.applies(rule, site):
            return
        every = [self._number(item, site) for item in rule.all]
        some = [self._number(item, site) for item in rule.any]
        if any(holds is False for holds, _ in every):
            return
        certain = all(holds for holds, _ in every)
        if certain and (not some or any(holds for holds, _ in some)):
            numbers = [number for holds, number in (*every, *some) if holds and number]
            number_of = None if site is None else site.site
            self.fired.append(Fired(rule, number_of, tuple(numbers)))
            return
        if some and all(holds is False for holds, _ in some):
            return
        missing = {
            item.measure
            for item, (holds, _) in zip(
                (*rule.all, *rule.any), (*every, *some), strict=True
            )
            if holds is None
        }
        self.missing.setdefault(rule.id, set()).update(missing)

    def _number(
        self, condition: Condition, site: SiteFeatures | None
    ) -> tuple[bool | None, Number | None]:
        of_site = measures()[condition.measure].scope == "site"
        source = site if of_site and site is not None else self.features
        value = source.value(condition.measure)
        limit = self.rules.limit(condition.threshold)
        if value is None:
            return None, None
        number = Number(
            condition.measure,
            value,
            condition.comparison,
            condition.threshold,
            limit,
        )
        return condition.holds(value, limit), number

    def over(self, rules: Iterable[Rule], sites: Iterable[SiteFeatures]) -> None:
        """Evaluate rules on sites."""
        for rule in rules:
            for site in sites:
                self.judge(rule, site)


def evaluate(
    features: Features, rules: Rules, objective: str = "throughput"
) -> Evaluation:
    """Evaluate every rule on the program and on the sites in its scope.

    The rules about the program come first. If they find that locks do not matter, no
    site is hot, and sites are only checked for problems that the section share does not
    show: many locks, trylocks, and many uncontended acquisitions.
    """
    work = _Evaluator(features, rules, objective)
    for rule in rules.rules:
        if rule.scope == "program":
            work.judge(rule, None)
    stopped = any(item.rule.stop for item in work.fired)
    limit = rules.limit("hot-share")
    hot = frozenset(
        site.site
        for site in features.sites
        if not stopped and site.share is not None and site.share >= limit
    )
    site_rules = [rule for rule in rules.rules if rule.scope == "site"]
    cold = [rule for rule in site_rules if not (rule.hot or rule.last)]
    work.over(cold, features.sites)
    work.over(
        [rule for rule in site_rules if rule.hot],
        [site for site in features.sites if site.site in hot],
    )
    named = {item.site for item in work.fired if item.rule.bottleneck} | hot
    work.over(
        [rule for rule in site_rules if rule.last],
        [site for site in features.sites if site.site in named],
    )
    quiet = all(item.rule.quiet or not item.rule.bottleneck for item in work.fired)
    place = {rule.id: index for index, rule in enumerate(rules.rules)}
    unknown = [
        Unknown(rule, tuple(sorted(work.missing[rule.id])))
        for rule in rules.rules
        if rule.id in work.missing
    ]
    return Evaluation(
        fired=tuple(sorted(work.fired, key=lambda item: place[item.rule.id])),
        unknown=tuple(unknown),
        locks_matter=not (stopped and quiet),
        hot=hot,
    )
