# SPDX-License-Identifier: MIT
"""The reasons for a verdict, for `--why`: causes, rules, and what is not measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.profile.diagnosis import advise
from hasp.profile.diagnosis.causes.limits import MATTERS
from hasp.profile.diagnosis.diagnose import Diagnosis, said
from hasp.profile.diagnosis.unmeasured import unmeasured_lines
from hasp.profile.model.profile import Profile
from hasp.profile.report.words import share

if TYPE_CHECKING:
    from hasp.profile.diagnosis.verdict import SiteVerdict
    from hasp.profile.diagnosis.verdict import Verdict as Advice

CAUSES, SITES = 8, 5  # lines


def why(profile: Profile, found: Diagnosis | None) -> list[tuple[str, list[str]]]:
    """Return headings, each with its lines; only those that have any."""
    parts = [("causes", list(_causes(found)) if found else [])]
    try:
        advice: Advice = advise(profile)
        sites = [line for site in advice.sites if (line := advice_words(site))]
        parts.append(("rules about lock algorithms", list(advice.evidence)))
        parts.append(("their advice", [*sites[:SITES], *advice.hints]))
        unknown = unmeasured_lines(advice.unknown)
    except HaspError as problem:  # the rules need native programs, a report does not
        parts.append(("rules about lock algorithms", [f"none: {problem.message}"]))
        unknown = []
    parts.append(("not measured", [*_absent(profile), *unknown]))
    return [(heading, lines) for heading, lines in parts if lines]


def _causes(found: Diagnosis) -> Iterator[str]:
    every = (found.lead, *found.others)
    for cause in every[:CAUSES]:
        saves = "a fault" if cause.fault else f"saves at most {share(cause.saves, ' ')}"
        yield f"{cause.id} ({cause.remedy}), {saves}: {said(cause)}"
    if len(every) > CAUSES:
        yield f"and {len(every) - CAUSES:,} more"
    yield (
        f"a cause counts from {share(MATTERS, ' ')} of the time in which the threads "
        "run, hold or wait for locks"
    )


def advice_words(site: SiteVerdict) -> str:
    """Return the advice on a site's lock algorithm in one line; "" if there is none."""
    parts = []
    if site.recommendation:
        others = f" (or {', '.join(site.alternatives)})" if site.alternatives else ""
        parts.append(f"try the algorithm {site.recommendation}{others}")
    parts += [site.keep] if site.keep else []
    parts += [f"avoid {', '.join(site.avoid)}"] if site.avoid else []
    parts += [*site.hints, *site.cautions]
    return f"{site.name}: {'; '.join(parts)}" if parts else ""


def _absent(profile: Profile) -> list[str]:
    reasons = (
        profile.holding_absent,
        profile.functions_absent,
        profile.foreign_absent,
        profile.data_lines_absent,
    )
    return [reason for reason in reasons if reason]
