# SPDX-License-Identifier: MIT
"""The first screen: verdict, evidence, the table of sites, findings, overhead."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap
from typing import TYPE_CHECKING

from hasp.base.output import console, escaped
from hasp.profile.model.profile import Overhead, Profile
from hasp.profile.report import delegation, elision
from hasp.profile.report.figures import Metric, Row, idle_rows, rows, statistic
from hasp.profile.report.findings import (
    Finding,
    Names,
    findings,
    inversions,
    stack_words,
)
from hasp.profile.report.headline import Verdict, verdict
from hasp.profile.report.layout import print_table as print_lines
from hasp.profile.report.processes import print_processes
from hasp.profile.report.words import (
    count,
    few,
    listed,
    plural,
    share,
    short_time,
    time,
)

if TYPE_CHECKING:
    from rich.console import Console

FINDINGS = 10
LONG_NAME = 40  # characters
IDLE_HEADINGS = (
    *(
        "site",
        "waits",
        "total",
        "p50",
        "p99",
        "signals",
        "broad-\ncasts",
        "time-\nouts",
    ),
)
# Metrics that have a column. Sorting by another metric adds its column.
SHOWN = frozenset(
    ("acquisitions", "contended", "share", "waiters.mean", "hold.p50", "hold.p99")
) | {f"wait.{name}" for name in ("total", "p50", "p99", "max")}
CUT = ("wait\np50", "wai-\nters")  # the columns removed to make space for it


@dataclass(frozen=True)
class Choice:
    """The rows to show, and their order."""

    by: Metric
    top: int | None = 10  # None: all
    why: bool = False  # also the rules, thresholds and missing measures


def print_report(profile: Profile, choice: Choice) -> None:
    """Print the first screen to stdout."""
    print_verdict(profile, choice)
    out = console()
    names = Names(profile)
    out.print()
    for line in headline(profile):
        say(out, line)
    print_processes(profile, choice.top, out)
    print_table(profile, choice, out)
    print_elided(profile, choice, out)
    print_delegated(profile, choice.top, out)
    print_idle(profile, choice.top, out)
    print_findings("misuse of locks", findings(profile, names), choice.top, out)
    print_findings("lock order", inversions(profile, names), choice.top, out)
    out.print()
    say(out, overhead_words(profile.overhead))
    if profile.others:
        say(out, others_words(profile.others))
    for warning in profile.warnings:
        say(out, f"warning: {warning}")


def print_verdict(profile: Profile, choice: Choice) -> None:
    """Print the verdict with its evidence, and its reasons if they are wanted."""
    out = console()
    said = verdict(profile)
    say(out, said.sentence, style="bold")
    again = Again(profile, said.sentence)
    for line in said.evidence:
        say(out, again.briefly(line), "- ")
    for line in said.hang:
        indent = line[: len(line) - len(line.lstrip())]
        say(out, line.strip(), f"  {indent}")
    if choice.why:
        print_why(profile, said, out, again)


def print_why(profile: Profile, said: Verdict, out: Console, again: Again) -> None:
    """Print all causes, the rules that fired, and the measures that are missing."""
    # Imported here because only --why needs the rules.
    from hasp.profile.report.why import why

    for heading, lines in why(profile, said.diagnosis):
        out.print()
        out.print(heading, style="bold")
        for line in lines:
            say(out, again.briefly(line), "- ")


class Again:
    """Abbreviates long site names after their first occurrence."""

    def __init__(self, profile: Profile, said: str) -> None:
        self._sites = [site for site in profile.sites if len(site.name) > LONG_NAME]
        self._known: set[int] = set()
        self.briefly(said)

    def briefly(self, text: str) -> str:
        """Return the text with repeated long names cut to their locations."""
        for site in self._sites:
            if site.name not in text:
                continue
            if site.number in self._known:
                text = text.replace(site.name, site.place)
            self._known.add(site.number)
        return text


def say(out: Console, text: str, indent: str = "", style: str = "") -> None:
    """Print a paragraph; its lines are indented to the first word."""
    blank = " " * len(indent)
    text = escaped(text)
    lines = wrap(text, out.width, initial_indent=indent, subsequent_indent=blank)
    out.print("\n".join(lines), style=style or None, soft_wrap=True)


def headline(profile: Profile) -> list[str]:
    """Return two lines about the recording."""
    command = shlex.join(profile.command) or profile.executable
    command = command.encode(errors="replace").decode()
    nodes = f", {profile.nodes} NUMA nodes" if profile.nodes > 1 else ""
    ended = "" if profile.ended else ", killed or still running"
    if profile.skipped_ns is not None:
        ended = ", a part of the run"
    return [
        command if len(command) <= 240 else f"{command[:237]}...",
        f"pid {profile.pid}, {time(profile.duration_ns)} from {moment(profile.began)}"
        f", {plural(profile.thread_count, 'thread')} on {plural(profile.cpus, 'CPU')}"
        f"{nodes}, lock {profile.algorithms}, {profile.mode} recording{ended}",
    ]


def moment(seconds: float) -> str:
    """Return a local time; a damaged trace may contain any number."""
    try:
        return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return "an unknown time"


def cells(row: Row) -> tuple[str, ...]:
    """Return a row of the table of sites."""
    use, site = row.use, row.site
    return (
        row.name,
        count(use.acquisitions),
        share(use.contended / use.acquisitions if use.acquisitions else None),
        short_time(statistic(use.wait, "total"), 3),
        *(short_time(statistic(use.wait, name)) for name in ("p50", "p99", "max")),
        *(short_time(statistic(use.hold, name)) for name in ("p50", "p99")),
        few(site.waiters_mean),
        share(site.share),
    )


HEADINGS = (
    *("lock", "taken", "con-\ntended", "wait\ntotal", "wait\np50", "wait\np99"),
    *("wait\nmax", "hold\np50", "hold\np99", "wai-\nters", "share"),
)


def figure(row: Row, metric: Metric) -> str:
    """Return a metric in as few columns as possible."""
    value = row.value(metric)
    if metric.unit == "ns":
        return short_time(value)
    return share(value) if metric.unit == "share" else count(value)


def print_table(profile: Profile, choice: Choice, out: Console) -> None:
    """Print the sites, the most important first."""
    found = rows(profile, choice.by)
    if not found:
        return
    shown = found[: choice.top]
    extra = choice.by.name not in SHOWN
    kept = [
        index for index, name in enumerate(HEADINGS) if not extra or name not in CUT
    ]
    lines = []
    for row in shown:
        line = cells(row)
        last = (figure(row, choice.by),) if extra else ()
        lines.append((*(line[index] for index in kept), *last))
    last_heading = (choice.by.name.replace(".", "\n"),) if extra else ()
    out.print()
    print_lines(out, (*(HEADINGS[index] for index in kept), *last_heading), lines)
    if len(found) > len(shown):
        left = found[len(shown) :]
        part = sum(row.site.share for row in left)
        more = plural(len(left), "more site")
        say(out, f"and {more} with {share(part, ' ')} of the threads' time: --top all")


def print_elided(profile: Profile, choice: Choice, out: Console) -> None:
    """Print what became of elided sections, if there are any."""
    found = elision.elided_rows(rows(profile, choice.by))
    if not found:
        return
    lines = [elision.cells(row, sums) for row, sums in found[: choice.top]]
    out.print()
    print_lines(out, elision.HEADINGS, lines, elision.title(profile))


def print_delegated(profile: Profile, top: int | None, out: Console) -> None:
    """Print the sections that executors of the library ran, and their servers."""
    found = profile.delegation
    for title, headings, lines in (
        (
            delegation.TITLE,
            delegation.HEADINGS,
            [delegation.cells(one) for one in found.delegates[:top]],
        ),
        (
            delegation.SERVERS_TITLE,
            delegation.SERVER_HEADINGS,
            [delegation.server_cells(one) for one in found.servers],
        ),
    ):
        if lines:
            out.print()
            print_lines(out, headings, lines, title)


def print_idle(profile: Profile, top: int | None, out: Console) -> None:
    """Print condition variables and barriers, whose waits are idle time."""
    found = idle_rows(profile)
    if not found:
        return
    lines = [
        (
            row.name,
            count(row.use.acquisitions),
            short_time(row.use.wait.total_ns, 3),
            *(short_time(statistic(row.use.wait, name)) for name in ("p50", "p99")),
            *map(count, (row.use.signals, row.use.broadcasts, row.use.timeouts)),
        )
        for row in found[: None if top is None else max(1, top // 2)]
    ]
    out.print()
    print_lines(
        out,
        IDLE_HEADINGS,
        lines,
        "waits for condition variables and barriers (idle time)",
    )


def print_findings(
    title: str, found: Sequence[Finding], top: int | None, out: Console
) -> None:
    """Print findings as sentences with stacks."""
    if not found:
        return
    out.print()
    out.print(f"{title}: {len(found):,}", style="bold")
    limit = None if top is None else FINDINGS
    for finding in found[:limit]:
        say(out, finding.words, "- ")
        for trace in finding.traces:
            say(out, f"{trace.words}:", "    ")
            for line in stack_words(trace.stack):
                say(out, line, "      ")
    if limit and len(found) > limit:
        out.print(f"and {len(found) - limit:,} more: --top all")


def overhead_words(overhead: Overhead) -> str:
    """Describe the cost of recording."""
    return (
        f"Recording took {time(overhead.spent_ns)} of CPU time, "
        f"{share(overhead.share, ' ')} of the program's time (with warm caches: "
        f"{time(overhead.counted_ns)} for a counted acquisition, "
        f"{time(overhead.timed_ns)} for a timed one, {time(overhead.stack_ns)} for a "
        "stack)."
    )


def others_words(others: Sequence[str]) -> str:
    """Name the other processes of the run."""
    short = [name.rsplit("/", 1)[-1] for name in others]
    return f"The run has other processes: {listed(short)}; --process PID shows one."
