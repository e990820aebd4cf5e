# SPDX-License-Identifier: MIT
"""The runs of the proof: the candidates, the plan and glibc, interleaved."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hasp.base.errors import Interrupted
from hasp.compare.comparison import carry_out, new_comparison
from hasp.compare.run import ComparisonRunner
from hasp.compare.settings import Settings
from hasp.compare.store import Comparison
from hasp.locks import native
from hasp.locks.given import given_lock
from hasp.locks.site_plan.model import SitePlan
from hasp.profile.diagnosis.choose import fitting
from hasp.profile.diagnosis.proven import NOTHING, Proven
from hasp.profile.diagnosis.rules import Rules
from hasp.profile.diagnosis.verdict import Verdict


def candidates(
    verdict: Verdict, rules: Rules, number: int, proven: Proven = NOTHING
) -> list[str]:
    """The locks to try: the recommendations for the sites, then locks that differ.

    The site with the largest possible gain comes first. The alternatives of its lock
    resemble it, so locks that suit other programs best (`tried` of the rules) precede
    them: the comparison is to find what the rules overlook. Locks that a rule forbids
    here and locks that a proof refuted are not tried. The lock that the program ran
    under is tried as well if it is not the reference.
    """
    found = [site.recommendation for site in verdict.advised if site.recommendation]
    found[1:1] = [other.label for other in verdict.other_kinds[:1]]
    present = verdict.features.lock or native.REFERENCE
    suitable = {lock.name for lock in fitting(verdict.fired, rules, native.locks())}
    found += [name for name in rules.tried if name in suitable]
    found += [name for site in verdict.advised for name in site.alternatives]
    found += [name for name in rules.order if name in suitable]
    others = [
        name
        for name in dict.fromkeys(found)
        if name not in (native.REFERENCE, present) and not proven.refutes(name)
    ]
    kept = [] if present == native.REFERENCE else [present]
    return [*kept, *others[:number]]


def compare(
    settings: Settings, locks: Sequence[str], plan: SitePlan | None
) -> Comparison:
    """Run the comparison; after Ctrl-C, the result contains the completed runs."""
    given = [*(one.plan for one in map(given_lock, locks)), plan]
    plans = {one.name: one for one in given if one}
    names = dict.fromkeys([native.REFERENCE, *locks, *plans])
    whole = dataclasses.replace(settings, locks=tuple(names))
    comparison = new_comparison(whole, plans)
    try:
        carry_out(ComparisonRunner(whole, plans=plans), comparison, None)
    except Interrupted:
        comparison.interrupted = True
        if not any(run.measured for run in comparison.runs):
            raise
    return comparison
