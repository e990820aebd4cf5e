# SPDX-License-Identifier: MIT
"""A comparison of profiles as sentences, as a table, and as JSON (hasp.diff/1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hasp import version
from hasp.base.output import console
from hasp.profile.model.profile import Profile
from hasp.profile.report.difference import (
    BOTH,
    LESS,
    MORE,
    NEW,
    TESTED_FROM,
    Difference,
    Result,
    SiteChange,
)
from hasp.profile.report.layout import print_table
from hasp.profile.report.text import say
from hasp.profile.report.words import NOTHING, listed, plural, quantity, share, time

SCHEMA = "hasp.diff/1"
# The columns of changes with their headings.
COLUMNS = (
    ("rate", "taken\n/s"),
    ("contended", "con-\ntended"),
    ("waiting", "wai-\nters"),
    ("wait.p99", "wait\np99"),
    ("hold.mean", "hold\nmean"),
    ("hold.p99", "hold\np99"),
)
NAMED = 3


def sentences(found: Difference) -> list[str]:
    """Return the changes as sentences, the most important first."""
    changed = [
        site
        for site in found.sites
        if site.status != BOTH
        or any(one.verdict in (MORE, LESS) for one in site.results.values())
    ]
    mattering = [
        site
        for site in changed
        if max(site.share_before, site.share_after) >= TESTED_FROM
    ]
    if not mattering:
        return ["Nothing changed beyond the noise."]
    said = [_sentence(site) for site in mattering[:NAMED]]
    if len(mattering) > NAMED:
        said.append(f"{plural(len(mattering) - NAMED, 'more lock')} also changed.")
    return said


def _sentence(site: SiteChange) -> str:
    shares = f"{share(site.share_before, ' ')} to {share(site.share_after, ' ')}"
    if site.status != BOTH:
        value = site.share_after if site.status == NEW else site.share_before
        side = "after" if site.status == NEW else "before"
        return f"{site.name} exists only {side}, with {share(value, ' ')} of the time."
    parts = [
        f"{name} {change_words(result)}"
        for name, result in site.results.items()
        if name != "share" and result.verdict in (MORE, LESS)
    ]
    words = ", ".join(parts)
    if site.results["share"].verdict not in (MORE, LESS):
        chance = f"its share of the time went {shares}, possibly by chance"
        return f"{site.name}: {words}; {chance}."
    because = f" ({words})" if parts else ""
    return f"{site.name}: from {shares} of the threads' time{because}."


def change_words(result: Result) -> str:
    """Return +23 %, -40 % or 3.2x; in parentheses if not significant."""
    change = result.change
    if change is None:
        return NOTHING
    percent = 100 * (change.ratio - 1)
    if change.ratio >= 9.995:
        words = f"{change.ratio:.0f}x" if change.ratio < 1e4 else f"{change.ratio:.0e}x"
    elif change.ratio >= 2.5:
        words = f"{change.ratio:.1f}x"
    else:
        words = f"{percent:+.0f}%"
    return words if result.verdict in (MORE, LESS) else f"({words})"


def method(found: Difference) -> list[str]:
    """Describe the method of comparison and its limits."""
    if found.single:
        return [
            "One run each: only the noise of counting is known, not the variation "
            "between runs, so changes in this table may still be chance. Profile each "
            "side several times: hasp diff A1,A2,A3:B1,B2,B3."
        ]
    runs = f"{len(found.before)} and {len(found.after)} runs"
    return [f"{runs}: Welch's test of the logarithms, corrected by Holm."]


def caveats(found: Difference) -> list[str]:
    """Return the differences between the two sides' conditions."""
    said = []
    facts = {
        "lock": [profile.algorithms for profile in (*found.before, *found.after)],
        "recording": [profile.mode for profile in (*found.before, *found.after)],
        "CPUs": [str(profile.cpus) for profile in (*found.before, *found.after)],
        "command": [" ".join(one.command) for one in (*found.before, *found.after)],
    }
    split = len(found.before)
    for name, values in facts.items():
        before, after = (
            list(dict.fromkeys(side)) for side in (values[:split], values[split:])
        )
        if before != after:
            said.append(f"{name}: {listed(before)} before, {listed(after)} after")
    if any(not one.ended for one in (*found.before, *found.after)):
        said.append("some of the programs were killed or are still running")
    damaged = [one for one in (*found.before, *found.after) if one.damaged]
    said += dict.fromkeys(words for one in damaged for words in one.warnings)
    addresses = [site for site in found.sites if "+0x" in site.name]
    if addresses and any(site.status != BOTH for site in addresses):
        said.append(
            "sites without debug information are named by address, which a new build "
            "changes: compile with -g"
        )
    return said


def print_difference(found: Difference, top: int | None) -> None:
    """Print the sentences, the table, and the method."""
    out = console()
    for index, line in enumerate(sentences(found)):
        say(out, line, style="bold" if not index else "")
    for words, side in (("before", found.before), ("after", found.after)):
        out.print(_side(words, side))
    out.print()
    print_table(
        out,
        ("lock", "share\nbefore", "\nafter", *(words for _, words in COLUMNS)),
        [
            (
                site.name if site.status == BOTH else f"{site.name} ({site.status})",
                share(site.share_before),
                share(site.share_after),
                *(change_words(site.results[name]) for name, _ in COLUMNS),
            )
            for site in found.sites[:top]
        ],
    )
    left = len(found.sites) - len(found.sites[:top])
    if left:
        out.print(f"and {plural(left, 'more lock')}: --top all")
    out.print()
    say(out, "In parentheses: not significant, or too small to matter (5 %).")
    for line in (*method(found), *caveats(found)):
        say(out, line)


def _side(words: str, side: Sequence[Profile]) -> str:
    runs = "" if len(side) == 1 else f"{len(side)} runs, "
    durations = " ".join(time(one.duration_ns) for one in side[:4])
    more = " ..." if len(side) > 4 else ""
    return f"{words + ':':8}{runs}{durations}{more}"


def document(found: Difference) -> dict[str, Any]:
    """Return the comparison as JSON."""
    return {
        "schema": SCHEMA,
        "version": version(),
        "verdict": sentences(found),
        "method": method(found),
        "caveats": caveats(found),
        "before": [_run(profile) for profile in found.before],
        "after": [_run(profile) for profile in found.after],
        "locks": [_site(site) for site in found.sites],
    }


def _run(profile: Profile) -> dict[str, Any]:
    return {
        "command": list(profile.command),
        "pid": profile.pid,
        "lock": profile.lock,
        "mode": profile.mode,
        "duration_ns": profile.duration_ns,
        "section_share": profile.section_share,
    }


def _site(site: SiteChange) -> dict[str, Any]:
    return {
        "name": site.name,
        "name_before": site.before_name,
        "kind": site.kind.value,
        "status": site.status,
        "measures": {name: _result(one) for name, one in site.results.items()},
    }


def _result(one: Result) -> dict[str, Any]:
    change = one.change
    return {
        "before": one.before,
        "after": one.after,
        "ratio": change.ratio if change else None,
        "low": change.low if change else None,
        "high": change.high if change else None,
        "p": one.p,
        "verdict": one.verdict,
    }


def describe(result: Result) -> str:
    """Return both values with their unit."""
    unit = result.measure.unit
    return f"{quantity(result.before, unit)} to {quantity(result.after, unit)}"
