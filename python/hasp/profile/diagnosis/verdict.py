# SPDX-License-Identifier: MIT
"""The verdict, for each site and for the program."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hasp.profile.diagnosis.evaluate import Fired, Unknown
from hasp.profile.diagnosis.features import Features, SiteFeatures
from hasp.profile.diagnosis.measures import measures
from hasp.profile.model.proofs import LockProof

SCHEMA = "hasp.advise/1"


@dataclass(frozen=True)
class SiteVerdict:
    """One site: its bottlenecks and the advice."""

    site: int
    name: str
    kind: str
    features: SiteFeatures
    level: str  # of contention: uncontended, moderate, high, extreme, or ""
    bottlenecks: tuple[str, ...]
    advice: tuple[str, ...]  # "avoid fifo"
    recommendation: str | None  # a lock algorithm; None: keep the present one
    keep: str  # why no other algorithm is worth it; "" if no rule says so
    alternatives: tuple[str, ...]
    avoid: tuple[str, ...]  # descriptions of algorithms
    why: tuple[str, ...]
    hints: tuple[str, ...]  # remedies other than another algorithm
    cautions: tuple[str, ...]
    # advice that was dropped because no algorithm satisfies all
    conflicts: tuple[str, ...]

    @property
    def cost(self) -> float:
        """The largest share of the threads' time that the site may cost."""
        measured = self.features
        shares = (measured.wait_share, measured.share, measured.operation_share)
        return max((share or 0.0) for share in shares)


@dataclass(frozen=True)
class KindAdvice:
    """Another algorithm for a site of reader-writer locks, spin locks or barriers."""

    site: int
    name: str
    kind: str
    algorithm: str
    because: str

    @property
    def option(self) -> str:
        """The option of `hasp run`."""
        return f"--{self.kind} {self.algorithm}"

    @property
    def label(self) -> str:
        """The algorithm's label in comparisons."""
        return f"{self.kind}:{self.algorithm}"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a program and its sites."""

    sentence: str
    evidence: tuple[str, ...]
    locks_matter: bool
    bottlenecks: tuple[str, ...]
    fired: tuple[Fired, ...]
    unknown: tuple[Unknown, ...]
    hints: tuple[str, ...]
    cautions: tuple[str, ...]
    sites: tuple[SiteVerdict, ...]  # sites with findings, the worst first
    features: Features
    objective: str
    other_kinds: tuple[KindAdvice, ...] = ()  # the costliest site first
    winner: LockProof | None = None  # the lock that a comparison proved to be faster

    def of(self, site: int) -> SiteVerdict | None:
        """Return the verdict on one site; None if there is none."""
        return next((item for item in self.sites if item.site == site), None)

    @property
    def advised(self) -> list[SiteVerdict]:
        """Return the sites that need another algorithm, the largest gain first."""
        return sorted(
            (site for site in self.sites if site.recommendation),
            key=lambda site: site.features.gain or 0.0,
            reverse=True,
        )

    @property
    def recommendation(self) -> str | None:
        """Return the algorithm to try for the whole program; None to keep its own.

        A site that should keep its lock decides if it costs more than those where
        another one may gain. A measurement overrides the rules, even where these see no
        trouble at any site.
        """
        if self.winner:
            return self.winner.lock
        first = next(iter(self.advised), None)
        kept = max((site.cost for site in self.sites if site.keep), default=0.0)
        return first.recommendation if first and kept <= first.cost else None

    def as_json(self) -> dict[str, Any]:
        """Return one record, documented in docs/hasp-advise.md."""
        return {
            "schema": SCHEMA,
            "verdict": self.sentence,
            "evidence": list(self.evidence),
            "recommendation": self.recommendation,
            "locks_matter": self.locks_matter,
            "objective": self.objective,
            "bottlenecks": list(self.bottlenecks),
            "hints": list(self.hints),
            "cautions": list(self.cautions),
            "sites": [
                {**asdict(item), "features": _known(item.features)}
                for item in self.sites
            ],
            "other_kinds": [asdict(item) for item in self.other_kinds],
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
