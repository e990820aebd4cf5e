# SPDX-License-Identifier: MIT
"""The proof's runs: the candidates, the plan and glibc, interleaved."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from hasp.base.errors import Interrupted
from hasp.compare.comparison import carry_out, new_study
from hasp.compare.run import Runner
from hasp.compare.settings import Plan
from hasp.compare.store import Study
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


def compare(plan: Plan, locks: Sequence[str], plan_file: Path | None) -> Study:
    """The comparison; Ctrl-C ends it early, and what was measured counts."""
    planned = [f"{native.PLAN}{plan_file.absolute()}"] if plan_file else []
    whole = dataclasses.replace(plan, locks=(native.REFERENCE, *locks, *planned))
    study = new_study(whole)
    try:
        carry_out(Runner(whole), study, None)
    except Interrupted:
        study.interrupted = True
        if not any(run.measured for run in study.runs):
            raise
    return study
