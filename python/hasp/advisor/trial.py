# SPDX-License-Identifier: MIT
"""The proof's runs: the candidates, the plan and glibc, interleaved."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hasp import interpose, native
from hasp.advisor.proof import PLAN
from hasp.advisor.rules import Rules
from hasp.advisor.verdict import Verdict
from hasp.errors import Interrupted
from hasp.plan.model import Plan as LockPlan
from hasp.study.comparing import carry_out, new_study
from hasp.study.plan import Plan
from hasp.study.run import Runner
from hasp.study.store import Study


def candidates(verdict: Verdict, rules: Rules, number: int) -> list[str]:
    """The locks to try: of the worst site, the recommended one and its alternatives.

    Where the rules name none, locks that differ as much as can be.
    """
    found: list[str] = []
    for site in verdict.sites:
        if site.recommendation:
            found += [site.recommendation, *site.alternatives]
            break
    reference = (native.REFERENCE, verdict.features.lock)
    found = [name for name in (*found, *rules.order) if name not in reference]
    return list(dict.fromkeys(found))[:number]


def compare(
    plan: Plan, locks: Sequence[str], locks_of_sites: LockPlan, plan_file: Path | None
) -> Study:
    """The comparison; Ctrl-C ends it early, and what was measured counts."""
    names = [*locks, PLAN] if plan_file else list(locks)
    whole = dataclasses.replace(plan, locks=(native.REFERENCE, *names))
    environments, facts = {}, []
    if plan_file:
        cell = whole.cells[0]
        subject = whole.server_for(cell) if whole.server else whole.command_for(cell)
        environments[PLAN] = interpose.environment(
            f"plan:{plan_file.absolute()}", interpose.original_environment(), subject
        )
        facts.append(_facts(locks_of_sites))
    study = new_study(whole, facts)
    try:
        carry_out(Runner(whole, environments), study, None)
    except Interrupted:
        study.interrupted = True
        if not any(run.measured for run in study.runs):
            raise
    return study


def _facts(plan: LockPlan) -> dict[str, Any]:
    """What a study has to know of the plan's runs: it is as weak as its weakest."""
    names = {plan.default, *(entry.lock for entry in plan.entries)}
    collapses = any(native.lock(name).collapses for name in names)
    return {"name": PLAN, "waiting": "", "collapses": collapses}
