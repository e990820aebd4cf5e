# SPDX-License-Identifier: MIT
"""What the advisor says: for each site, and for the program."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hasp.profile.diagnosis.evaluate import Fired, Unknown
from hasp.profile.diagnosis.features import Features, SiteFeatures
from hasp.profile.diagnosis.measures import measures

SCHEMA = "hasp.advise/1"


@dataclass(frozen=True)
class SiteVerdict:
    """One site: what is wrong with it, and what to do."""

    site: int
    name: str
    kind: str
    features: SiteFeatures
    level: str  # of contention: uncontended, moderate, high, extreme, or ""
    bottlenecks: tuple[str, ...]
    advice: tuple[str, ...]  # "avoid fifo"
    recommendation: str | None  # a lock; None: keep what it has
    keep: str  # why no other lock is worth it, in words; "" where no rule says so
    alternatives: tuple[str, ...]
    avoid: tuple[str, ...]  # locks, in words
    why: tuple[str, ...]
    hints: tuple[str, ...]  # what no other lock would do
    cautions: tuple[str, ...]
    conflicts: tuple[str, ...]  # advice that gave way, because no lock has all


@dataclass(frozen=True)
class Verdict:
    """The whole answer."""

    sentence: str
    evidence: tuple[str, ...]
    locks_matter: bool
    bottlenecks: tuple[str, ...]
    fired: tuple[Fired, ...]
    unknown: tuple[Unknown, ...]
    hints: tuple[str, ...]
    cautions: tuple[str, ...]
    sites: tuple[SiteVerdict, ...]  # that something is to be said of, the worst first
    features: Features
    objective: str

    def of(self, site: int) -> SiteVerdict | None:
        """The verdict on one site; None if there is nothing to say."""
        return next((item for item in self.sites if item.site == site), None)

    @property
    def advised(self) -> list[SiteVerdict]:
        """The sites that should have another lock, the most promising first."""
        return sorted(
            (site for site in self.sites if site.recommendation),
            key=lambda site: site.features.gain or 0.0,
            reverse=True,
        )

    @property
    def recommendation(self) -> str | None:
        """The lock that is tried for the whole program; None: keep what it has."""
        return next((site.recommendation for site in self.advised), None)

    def as_json(self) -> dict[str, Any]:
        """One record, documented in docs/hasp-advise.md."""
        return {
            "schema": SCHEMA,
            "verdict": self.sentence,
            "evidence": list(self.evidence),
            "locks_matter": self.locks_matter,
            "objective": self.objective,
            "bottlenecks": list(self.bottlenecks),
            "hints": list(self.hints),
            "cautions": list(self.cautions),
            "sites": [
                {**asdict(item), "features": _known(item.features)}
                for item in self.sites
            ],
            "rules": [
                {
                    "id": item.rule.id,
                    "title": item.rule.title,
                    "site": item.site,
                    "numbers": [asdict(number) for number in item.numbers],
                    "source": item.rule.source,
                }
                for item in self.fired
                if not item.rule.silent
            ],
            "not_judged": [
                {
                    "id": item.rule.id,
                    "title": item.rule.title,
                    "missing": list(item.missing),
                    "why": [measures()[name].missing for name in item.missing],
                }
                for item in self.unknown
            ],
            "features": {
                name: value
                for name, value in _known(self.features).items()
                if name != "sites"
            },
        }


def _known(measured: Features | SiteFeatures) -> dict[str, Any]:
    return {
        name: value for name, value in asdict(measured).items() if value is not None
    }
