# SPDX-License-Identifier: MIT
"""The report as an HTML page.

All lists are bounded, so that a browser can open the page of a program with ten
thousand sites.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from hasp.base import pages as page
from hasp.profile.model.profile import Profile, Site, Thread
from hasp.profile.report import delegation, elision
from hasp.profile.report.details import octaves
from hasp.profile.report.figures import METRICS, TIMES, Row, idle_rows, rows, statistic
from hasp.profile.report.findings import Names, findings, inversions, stack_words
from hasp.profile.report.flame import tree
from hasp.profile.report.headline import is_empty, verdict
from hasp.profile.report.order_graph import HEIGHT, WIDTH, order_graph
from hasp.profile.report.stacks import KINDS, sums
from hasp.profile.report.text import headline, overhead_words
from hasp.profile.report.timeline import process_samples, timeline
from hasp.profile.report.why import why

MOST_SITES, MOST_DETAILED, MOST_LOCKS, MOST_THREADS = 1000, 100, 20, 500
MOST_FINDINGS = 50
DIGITS = 4
TITLE = 80  # characters
# Metric and heading; the first column is the name.
COLUMNS = (
    ("share", "share"),
    ("acquisitions", "taken"),
    ("contended", "contended"),
    ("wait.total", "wait"),
    ("wait.p50", "wait p50"),
    ("wait.p99", "wait p99"),
    ("wait.max", "wait max"),
    ("hold.total", "hold"),
    ("hold.p50", "hold p50"),
    ("hold.p99", "hold p99"),
    ("handover.p99", "handover p99"),
    ("waiters.mean", "waiters"),
    ("waiters.max", "most waiters"),
    ("trylocks", "trylocks"),
    ("failures", "failed"),
    ("instances", "locks"),
)
THREAD_COLUMNS = (
    ("lived", "ns"),
    ("in sections", "ns"),
    ("waiting", "ns"),
    ("idle", "ns"),
    ("CPU", "ns"),
    ("switches", "count"),
    ("forced switches", "count"),
    ("migrations", "count"),
    ("holds cut", "count"),
)


def render(profile: Profile) -> str:
    """Return the page."""
    names = Names(profile)
    found = rows(profile)
    elided = elision.elided_rows(found)
    said = verdict(profile)
    command, recorded = headline(profile)
    return page.render(
        "hasp.profile.report",
        f"Locks of {_short(profile)}",
        page_data(profile, names, found),
        command=command,
        recorded=recorded,
        empty=is_empty(profile),
        verdict=said.sentence,
        hang=said.hang,
        evidence=said.evidence,
        why=why(profile, said.diagnosis),
        elision_title=elision.title(profile),
        elision_headings=_in_one_line(elision.HEADINGS),
        elided=[elision.cells(*pair) for pair in elided[:MOST_DETAILED]],
        tables=_delegated(profile),
        findings=findings(profile, names)[:MOST_FINDINGS],
        inversions=inversions(profile, names)[:MOST_FINDINGS],
        events=len(profile.events),
        stack_words=stack_words,
        graph=order_graph(profile, names),
        box_width=WIDTH,
        box_height=HEIGHT,
        overhead=overhead_words(profile.overhead),
        warnings=profile.warnings,
        left_out=max(0, len(found) - MOST_SITES),
    )


def _in_one_line(headings: Sequence[str]) -> list[str]:
    return [heading.replace("-\n", "").replace("\n", " ") for heading in headings]


def _delegated(profile: Profile) -> list[dict[str, Any]]:
    """Return the tables of delegates and servers, if there are any."""
    found = profile.delegation
    tables = (
        (
            delegation.TITLE,
            delegation.HEADINGS,
            [delegation.cells(one) for one in found.delegates[:MOST_DETAILED]],
        ),
        (
            delegation.SERVERS_TITLE,
            delegation.SERVER_HEADINGS,
            [delegation.server_cells(one) for one in found.servers],
        ),
    )
    return [
        {"title": title.capitalize(), "headings": _in_one_line(headings), "rows": lines}
        for title, headings, lines in tables
        if lines
    ]


def _short(profile: Profile) -> str:
    """Shorten the command for a heading; the program's folder is removed."""
    words = [profile.program, *profile.command[1:]]
    text = shlex.join(words).encode(errors="replace").decode()
    return text if len(text) <= TITLE else f"{text[: TITLE - 3]}..."


def page_data(profile: Profile, names: Names, found: list[Row]) -> dict[str, Any]:
    """Return the data that the page's script draws."""
    shown = found[:MOST_SITES]
    return {
        "columns": [
            {"metric": name, "heading": words, "unit": METRICS[name].unit}
            for name, words in COLUMNS
        ],
        "sites": [_site(row) for row in shown],
        "details": {
            str(row.site.number): _details(row) for row in shown[:MOST_DETAILED]
        },
        "idle": [_idle(row) for row in idle_rows(profile)[:MOST_DETAILED]],
        "flame": {kind: tree(sums(profile, kind), f"all {kind}s") for kind in KINDS},
        "timeline": timeline(profile, names),
        "moments": process_samples(profile),
        "names": {str(site.number): site.name for site in _named(profile, shown)},
        "thread_columns": [list(pair) for pair in THREAD_COLUMNS],
        "threads": [_thread(one, profile) for one in _busiest(profile)],
        "duration_ns": profile.duration_ns,
    }


def _named(profile: Profile, shown: list[Row]) -> list[Site]:
    known = {row.site.number for row in shown}
    return [site for site in profile.sites if site.number in known]


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _site(row: Row) -> list[Any]:
    values = [_rounded(row.value(METRICS[name])) for name, _ in COLUMNS]
    return [row.site.number, row.name, row.site.kind.value, *values]


def _details(row: Row) -> dict[str, Any]:
    site = row.site
    return {
        "created": list(stack_words(site.created)),
        "first": list(stack_words(site.first)),
        "histograms": {
            times: [
                [_rounded(low), _rounded(high), number]
                for low, high, number in octaves(getattr(row.use, times))
            ]
            for times in TIMES
        },
        "operations": {
            operation.value: [use.acquisitions, use.contended, use.wait.total_ns]
            for operation, use in site.stats.items()
        },
        "locks": [
            [
                *(one.number, f"{one.address:#x}", one.acquisitions, one.contended),
                *(one.wait_ns, one.hold_ns, one.owner_changes),
            ]
            for one in site.locks[:MOST_LOCKS]
        ],
        "instances": len(site.locks),
    }


def _idle(row: Row) -> list[Any]:
    use = row.use
    quantiles = [_rounded(statistic(use.wait, name)) for name in ("p50", "p99")]
    return [
        *(row.name, row.site.kind.value, use.acquisitions, use.wait.total_ns),
        *(*quantiles, use.signals, use.broadcasts, use.timeouts),
    ]


def _busiest(profile: Profile) -> list[Thread]:
    ordered = sorted(profile.threads, key=lambda one: -(one.section_ns + one.wait_ns))
    return ordered[:MOST_THREADS]


def _thread(one: Thread, profile: Profile) -> list[Any]:
    end = profile.duration_ns if one.ended_ns is None else one.ended_ns
    return [
        *(one.number, f"{one.number} {one.name}".strip(), max(0, end - one.began_ns)),
        *(one.section_ns, one.wait_ns, one.idle_ns, one.cpu_ns, one.voluntary),
        *(one.involuntary, one.migrations, one.preempted_holds),
    ]
