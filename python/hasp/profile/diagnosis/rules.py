# SPDX-License-Identifier: MIT
"""Read and check the rules file: thresholds, rules, and properties of algorithms."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.profile.diagnosis.measures import measures

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RULES = Path(__file__).with_name("rules.toml")
VERBS = ("require", "exclude", "prefer", "avoid")
OBJECTIVES = ("throughput", "latency", "energy")
CONDITION = re.compile(r"(\w+) (>=|>|<=|<) ([\w-]+)")


@dataclass(frozen=True)
class Threshold:
    """A threshold with its source."""

    name: str
    value: float
    unit: str
    printed: bool  # P: printed in a paper; otherwise ours, open to calibration
    source: str
    about: str

    @property
    def basis(self) -> str:
        """Return P for a printed threshold, H for one of ours."""
        return "P" if self.printed else "H"


@dataclass(frozen=True)
class Condition:
    """`measure comparison threshold`."""

    measure: str
    comparison: str
    threshold: str

    def holds(self, value: float | None, limit: float) -> bool | None:
        """Return true if the condition holds; None if the measure is not known."""
        if value is None:
            return None
        if self.comparison == ">=":
            return value >= limit
        if self.comparison == ">":
            return value > limit
        if self.comparison == "<=":
            return value <= limit
        return value < limit


@dataclass(frozen=True)
class Advice:
    """A verb and a property of algorithms: `avoid fifo`."""

    verb: str
    quality: str  # a property in the rules file

    @property
    def words(self) -> str:
        """The advice as written in the rules file."""
        return f"{self.verb} {self.quality}"

    @property
    def wanted(self) -> bool:
        """Return true if the property is wanted rather than unwanted."""
        return self.verb in ("require", "prefer")

    @property
    def firm(self) -> bool:
        """Return true if the advice holds even if no algorithm is left."""
        return self.verb in ("require", "exclude")


@dataclass(frozen=True)
class Rule:
    """A rule of the decision procedure."""

    id: str
    title: str
    source: str
    all: tuple[Condition, ...]
    any: tuple[Condition, ...]
    scope: str  # program or site
    hot: bool  # only for sites that cost enough (hot-share)
    last: bool  # for sites that are hot or have a bottleneck by other rules
    quiet: bool  # its bottleneck alone does not make locks matter
    silent: bool  # changes the advice without being reported
    bottleneck: str
    level: str
    advice: tuple[Advice, ...]
    order: tuple[str, ...]  # algorithms, the best first
    hint: str
    caution: str
    also: str  # a rule whose answer is named in addition
    keep: str  # why no algorithm is recommended, overriding other rules; "" if it is
    stop: bool
    kinds: tuple[str, ...]  # of locks that it concerns; () for all
    objective: str  # "" for every objective
    at_least_nodes: int
    most_nodes: int | None

    @property
    def stage(self) -> str:
        """The stage, E0 to E10."""
        return self.id.partition(".")[0]

    def speaks_of(self, nodes: int) -> bool:
        """Return true if it concerns machines with this number of NUMA nodes."""
        few_enough = self.most_nodes is None or nodes <= self.most_nodes
        return nodes >= self.at_least_nodes and few_enough


@dataclass(frozen=True)
class Combination:
    """Sets a rule's advice aside if other rules fired for the same site."""

    id: str
    having: tuple[str, ...]  # ids of rules that must all have fired
    drops: tuple[str, ...]  # rules or stages whose advice and order are dropped
    only: tuple[str, ...]  # the advice that is dropped; () for all
    why: str
    source: str


@dataclass(frozen=True)
class Rules:
    """The whole file, with thresholds as set."""

    thresholds: Mapping[str, Threshold]
    rules: tuple[Rule, ...]
    combinations: tuple[Combination, ...]
    properties: Mapping[str, str]  # descriptions of advised properties
    # algorithms with a property that the lock list does not have
    members: Mapping[str, tuple[str, ...]]
    relaxed: tuple[str, ...]  # stages, the first to give way first
    order: tuple[str, ...]  # the default ranking of algorithms
    tried: tuple[str, ...]  # what a comparison tries beside the recommended one
    never: Mapping[str, str]  # algorithms that are not recommended, and why

    def limit(self, name: str) -> float:
        """Return the value of a threshold."""
        return self.thresholds[name].value

    def set(self, settings: Sequence[str]) -> Rules:
        """Return the rules with `name=value` settings applied."""
        known = dict(self.thresholds)
        for setting in settings:
            name, _, text = setting.partition("=")
            if name not in known:
                raise _unknown(name, known)
            try:
                value = float(text)
            except ValueError:
                raise HaspError(
                    f"--set {setting}: {text!r} is not a number",
                    f"for example --set {name}={known[name].value:g}",
                ) from None
            known[name] = replace(known[name], value=value)
        return replace(self, thresholds=known)

    def without(self, *ids: str) -> Rules:
        """Return the rules without the given ones; tests check that each is needed."""
        return replace(
            self,
            rules=tuple(rule for rule in self.rules if rule.id not in ids),
            combinations=tuple(
                item for item in self.combinations if item.id not in ids
            ),
        )


def _unknown(name: str, known: Mapping[str, Any]) -> HaspError:
    offer = did_you_mean(name, known)
    return HaspError(
        f"there is no threshold {name!r}",
        f"{offer}`hasp advise --rules` lists them",
    )


@cache
def load(path: Path = RULES) -> Rules:
    """Read a rules file; raises HaspError that names the problem."""
    try:
        with path.open("rb") as file:
            raw = tomllib.load(file)
        return _parse(raw)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise HaspError(
            f"{path} is not a rules file of this version: {error}",
            "compare it with Hasp's own",
        ) from None


def _parse(raw: dict[str, Any]) -> Rules:
    thresholds = {
        name: Threshold(
            name,
            float(entry["value"]),
            entry.get("unit", ""),
            {"P": True, "H": False}[entry["basis"]],
            entry["source"],
            entry["about"],
        )
        for name, entry in raw["thresholds"].items()
    }
    rules = tuple(_rule(entry, thresholds) for entry in raw["rule"])
    ids = [rule.id for rule in rules]
    if len(set(ids)) != len(ids):
        raise ValueError("two rules have the same id")
    combinations = tuple(_combination(entry, ids) for entry in raw["combination"])
    properties = raw["properties"]
    for rule in rules:
        if rule.also and rule.also not in ids:
            raise ValueError(f"{rule.id}: there is no rule {rule.also}")
        for advice in rule.advice:
            if advice.verb not in VERBS or advice.quality not in properties:
                raise ValueError(f"{rule.id}: {advice.words!r} is not understood")
    return Rules(
        thresholds=thresholds,
        rules=rules,
        combinations=combinations,
        properties=properties,
        members={name: tuple(found) for name, found in raw["members"].items()},
        relaxed=tuple(raw["relaxed"]),
        order=tuple(raw["order"]),
        tried=tuple(raw["tried"]),
        never=dict(raw.get("never", {})),
    )


def _rule(entry: dict[str, Any], thresholds: Mapping[str, Threshold]) -> Rule:
    every = _conditions(entry.get("all", ()), thresholds)
    some = _conditions(entry.get("any", ()), thresholds)
    known = measures()
    scopes = {known[item.measure].scope for item in (*every, *some)}
    objective = entry.get("objective", "")
    if objective and objective not in OBJECTIVES:
        raise ValueError(f"{entry['id']}: objective {objective!r}")
    return Rule(
        id=entry["id"],
        title=entry["title"],
        source=entry["source"],
        all=every,
        any=some,
        scope="site" if "site" in scopes else entry.get("scope", "program"),
        hot=entry.get("hot", False),
        last=entry.get("last", False),
        quiet=entry.get("quiet", False),
        silent=entry.get("silent", False),
        bottleneck=entry.get("bottleneck", ""),
        level=entry.get("level", ""),
        advice=tuple(Advice(*text.split(" ")) for text in entry.get("advice", ())),
        order=tuple(entry.get("order", ())),
        hint=entry.get("hint", ""),
        caution=entry.get("caution", ""),
        also=entry.get("also", ""),
        keep=entry.get("keep", ""),
        stop=entry.get("stop", False),
        kinds=tuple(entry.get("kinds", ())),
        objective=objective,
        at_least_nodes=entry.get("at_least_nodes", 1),
        most_nodes=entry.get("most_nodes"),
    )


def _conditions(
    texts: Sequence[str], thresholds: Mapping[str, Threshold]
) -> tuple[Condition, ...]:
    found = []
    for text in texts:
        match = CONDITION.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a condition")
        condition = Condition(*match.groups())
        if condition.measure not in measures():
            raise ValueError(f"{text!r}: no such measure")
        if condition.threshold not in thresholds:
            raise ValueError(f"{text!r}: no such threshold")
        found.append(condition)
    return tuple(found)


def _combination(entry: dict[str, Any], ids: Sequence[str]) -> Combination:
    stages = {name.partition(".")[0] for name in ids}
    for name in (*entry["having"], *entry["drops"]):
        if name not in ids and name not in stages:
            raise ValueError(f"{entry['id']}: there is no rule {name}")
    return Combination(
        id=entry["id"],
        having=tuple(entry["having"]),
        drops=tuple(entry["drops"]),
        only=tuple(entry.get("only", ())),
        why=entry["why"],
        source=entry["source"],
    )
