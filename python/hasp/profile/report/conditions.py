# SPDX-License-Identifier: MIT
"""`hasp report --fail-if`: conditions on figures of sites, such as `wait.p99 > 1ms`.

[SITE-GLOB:] METRIC[.STAT] OPERATOR VALUE[UNIT]
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.profile.model.profile import Profile
from hasp.profile.model.waiting import waiting
from hasp.profile.report.figures import Metric, Row, matches, metric, rows
from hasp.profile.report.words import quantity

OPERATORS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    ">": (operator.gt, "over"),
    ">=": (operator.ge, "at least"),
    "<": (operator.lt, "under"),
    "<=": (operator.le, "at most"),
    "==": (operator.eq, "exactly"),
    "!=": (operator.ne, "not"),
}
UNITS = {
    "ns": {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10},
    "share": {"%": 0.01, "": 1.0},
    "count": {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9},
}
FORM = re.compile(
    r"\s*(?:(?P<glob>.+):)?\s*(?P<metric>[a-z][a-z_]*(?:\.\w+)?)\s*"
    r"(?P<operator>>=|<=|==|!=|>|<)\s*"
    r"(?P<value>[+-]?[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*(?P<unit>[A-Za-zµ%]*)\s*"
)
ALONE = ("findings",)  # metrics that need no operator: any at all
EXAMPLE = "for example: --fail-if 'wait.p99 > 1ms' or --fail-if 'db.c*: contended > 5%'"


@dataclass(frozen=True)
class Parsed:
    """A condition as written, not yet interpreted."""

    text: str
    glob: str | None
    name: str
    operator: str
    value: float
    unit: str


@dataclass(frozen=True)
class Condition:
    """A condition on all sites, or on the sites that match a pattern."""

    text: str
    glob: str | None
    metric: Metric
    operator: str
    value: float

    def fails(self, found: Sequence[Row]) -> list[str]:
        """Return a sentence for each site that meets the condition."""
        compare, words = OPERATORS[self.operator]
        limit = quantity(self.value, self.metric.unit)
        said = []
        for row in found:
            value = row.value(self.metric)
            if self.concerns(row) and value is not None and compare(value, self.value):
                shown = quantity(value, self.metric.unit)
                said.append(
                    f"{row.name}: {self.metric.name} is {shown}, {words} {limit} "
                    f"({self.text.strip()})"
                )
        return said

    def concerns(self, row: Row) -> bool:
        """Return true if the condition applies to the site."""
        return self.glob is None or matches(row.site, self.glob)


def findings_in(profile: Profile) -> int:
    """Return the number of misuses and inversions or, if there are none, of
    deadlocks."""
    return len(profile.events) or len(waiting(profile).cycles)


# Figures of the whole program: unit and accessor.
PROGRAM: dict[str, tuple[str, Callable[[Profile], float]]] = {
    "findings": ("count", findings_in),
    "sections": ("share", lambda profile: profile.section_share),
    "overhead": ("share", lambda profile: profile.overhead.share),
}


@dataclass(frozen=True)
class ProgramCondition:
    """A condition on the whole program."""

    text: str
    name: str
    operator: str
    value: float

    def fails(self, profile: Profile) -> list[str]:
        """Return a sentence if the condition holds."""
        compare, words = OPERATORS[self.operator]
        unit, of = PROGRAM[self.name]
        value = of(profile)
        if not compare(value, self.value):
            return []
        shown, limit = quantity(value, unit), quantity(self.value, unit)
        return [f"{self.name}: {shown}, {words} {limit} ({self.text.strip()})"]


def parse(text: str) -> Parsed:
    """Split a condition into its parts."""
    if text.strip() in ALONE:
        text = f"{text.strip()} > 0"
    match = FORM.fullmatch(text)
    if not match:
        raise HaspError(
            f"--fail-if {text!r} is not a condition",
            f"write [SITE:] METRIC[.STAT] OPERATOR VALUE[UNIT]; {EXAMPLE}",
        )
    glob = match["glob"]
    return Parsed(
        text,
        glob.strip() if glob else None,
        match["metric"],
        match["operator"],
        float(match["value"]),
        match["unit"],
    )


def condition(text: str) -> Condition | ProgramCondition:
    """Parse a condition of `hasp report`; an error lists the metrics or the units."""
    parts = parse(text)
    if parts.name in PROGRAM:
        return _of_program(parts)
    try:
        meant = metric(parts.name)
    except HaspError as problem:
        raise HaspError(
            f"--fail-if {text!r}: {problem.message}",
            f"{problem.remedy}; of the program: {', '.join(PROGRAM)}",
        ) from None
    value = _value(parts, meant.unit)
    return Condition(text, parts.glob, meant, parts.operator, value)


def _of_program(parts: Parsed) -> ProgramCondition:
    if parts.glob:
        raise HaspError(
            f"--fail-if {parts.text!r}: {parts.name} applies to the whole program",
            f"leave {parts.glob!r} out",
        )
    value = _value(parts, PROGRAM[parts.name][0])
    return ProgramCondition(parts.text, parts.name, parts.operator, value)


def _value(parts: Parsed, unit: str) -> float:
    units = UNITS[unit]
    if parts.unit not in units and not (unit == "ns" and parts.value == 0):
        wanted = ", ".join(name or "none" for name in units)
        raise HaspError(
            f"--fail-if {parts.text!r}: "
            + (
                f"{parts.unit} is not a unit of {parts.name}"
                if parts.unit
                else f"{parts.name} needs a unit"
            ),
            f"its units: {wanted}; {EXAMPLE}",
        )
    return parts.value * units.get(parts.unit, 1)


def failures(
    profile: Profile, conditions: Sequence[Condition | ProgramCondition]
) -> tuple[list[str], list[str]]:
    """Return notes about conditions that check nothing, and those that hold."""
    found = rows(profile)
    of_sites = [one for one in conditions if isinstance(one, Condition)]
    of_program = [one for one in conditions if isinstance(one, ProgramCondition)]
    held = [words for one in of_program for words in one.fails(profile)]
    held += [words for one in of_sites for words in one.fails(found)]
    return unmet(of_sites, found), held


def unmet(conditions: Sequence[Condition], found: Sequence[Row]) -> list[str]:
    """Yield a note for each condition that matches no site or no measured value."""
    said = []
    for one in conditions:
        concerned = [row for row in found if one.concerns(row)]
        if not concerned:
            which = f"matches {one.glob!r}" if one.glob else "was recorded"
            said.append(f"--fail-if {one.text!r} checked nothing: no lock {which}")
        elif all(row.value(one.metric) is None for row in concerned):
            said.append(
                f"--fail-if {one.text!r} checked nothing: {one.metric.name} was not "
                "measured"
            )
    return said
