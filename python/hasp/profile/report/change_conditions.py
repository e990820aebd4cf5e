# SPDX-License-Identifier: MIT
"""`hasp diff --fail-if`: conditions on significant changes, as `wait.p99 > +20%`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase

from hasp.base.errors import HaspError
from hasp.profile.report.conditions import OPERATORS, parse
from hasp.profile.report.difference import (
    LESS,
    MORE,
    NEW,
    TESTED_FROM,
    Difference,
    SiteChange,
)
from hasp.profile.report.difference_text import describe
from hasp.profile.report.measures import MEASURES
from hasp.profile.report.words import share


@dataclass(frozen=True)
class ChangeCondition:
    """A condition of `hasp diff` on significant changes in percent."""

    text: str
    glob: str | None
    measure: str
    operator: str
    percent: float

    def fails(self, found: Difference) -> list[str]:
        """Return a sentence for each site that meets the condition."""
        compare, words = OPERATORS[self.operator]
        said = []
        for site in found.sites:
            if self._is_new(site):
                value = share(site.share_after, " ")
                said.append(
                    f"{site.name}: this lock is new, with {value} of the threads' time "
                    f"({self.text.strip()})"
                )
                continue
            result = site.results[self.measure]
            if result.change is None or result.verdict not in (MORE, LESS):
                continue
            percent = 100 * (result.change.ratio - 1)
            if self.concerns(site.name) and compare(percent, self.percent):
                said.append(
                    f"{site.name}: {self.measure} changed by {percent:+.0f} %, from "
                    f"{describe(result)}, {words} {self.percent:+g} % "
                    f"({self.text.strip()})"
                )
        return said

    def _is_new(self, site: SiteChange) -> bool:
        """Return true if a new lock's share, grown from 0, meets the condition."""
        compare, _ = OPERATORS[self.operator]
        grows = self.measure == "share" and compare(math.inf, self.percent)
        notable = site.status == NEW and site.share_after >= TESTED_FROM
        return grows and notable and self.concerns(site.name)

    def unmatched(self, found: Difference) -> bool:
        """Return true if the condition applies to no site."""
        return not any(self.concerns(site.name) for site in found.sites)

    def concerns(self, name: str) -> bool:
        """Return true if the condition applies to the site."""
        place, _, expression = name.partition(" ")
        return self.glob is None or any(
            one == self.glob or fnmatchcase(one, self.glob)
            for one in (name, place, expression or name)
        )


def change_condition(text: str) -> ChangeCondition:
    """Parse a condition of `hasp diff`; an error lists the measures."""
    parts = parse(text)
    if parts.name not in MEASURES:
        raise HaspError(
            f"--fail-if {text!r}: there is no measure {parts.name!r}",
            f"measures: {', '.join(MEASURES)}",
        )
    if parts.unit != "%":
        raise HaspError(
            f"--fail-if {text!r}: a change is in percent",
            f"for example: --fail-if '{parts.name} > +20%'",
        )
    return ChangeCondition(text, parts.glob, parts.name, parts.operator, parts.value)
