# SPDX-License-Identifier: MIT
"""The proof's runs: the candidates, the plan and glibc, interleaved."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from hasp.base.errors import Interrupted
from hasp.compare.comparison import carry_out, new_comparison
from hasp.compare.run import ComparisonRunner
from hasp.compare.settings import Settings
from hasp.compare.store import Comparison
from hasp.locks import native
from hasp.profile.diagnosis.rules import Rules
from hasp.profile.diagnosis.verdict import Verdict


def candidates(verdict: Verdict, rules: Rules, number: int) -> list[str]:
    """The locks to try: the recommended one of each site, then their alternatives.

    Those of the site at which a lock can gain most come first. Where the rules name
    none, locks that differ as much as can be. The lock that the program ran under, if
    it is not the reference, is tried as well.
    """
    found = [site.recommendation for site in verdict.advised if site.recommendation]
    found += [name for site in verdict.advised for name in site.alternatives]
    present = verdict.features.lock or native.REFERENCE
    others = [
        name
        for name in dict.fromkeys([*found, *rules.order])
        if name not in (native.REFERENCE, present)
    ]
    kept = [] if present == native.REFERENCE else [present]
    return [*kept, *others[:number]]


def compare(
    settings: Settings, locks: Sequence[str], plan_file: Path | None
) -> Comparison:
    """The comparison; Ctrl-C ends it early, and what was measured counts."""
    planned = [f"{native.PLAN}{plan_file.absolute()}"] if plan_file else []
    whole = dataclasses.replace(settings, locks=(native.REFERENCE, *locks, *planned))
    comparison = new_comparison(whole)
    try:
        carry_out(ComparisonRunner(whole), comparison, None)
    except Interrupted:
        comparison.interrupted = True
        if not any(run.measured for run in comparison.runs):
            raise
    return comparison
