# SPDX-License-Identifier: MIT
"""The output of `--expand`, `--threads` and `--histogram`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.base.output import console, escaped, table
from hasp.profile.model.distribution import Distribution
from hasp.profile.model.profile import Profile, Site
from hasp.profile.report.figures import IDLE_KINDS, TIMES, Row, chosen, idle_rows, rows
from hasp.profile.report.findings import Names, stack_words
from hasp.profile.report.text import say
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

BAR = 40  # columns of the longest bar of a histogram


def pick(profile: Profile, text: str) -> list[Row]:
    """Return the sites that the user names.

    If there are none, the error suggests some.
    """
    found = [*rows(profile), *idle_rows(profile)]
    picked = chosen(found, text)
    if not picked:
        known = listed([row.name for row in found], 5) or "none"
        raise HaspError(
            f"there is no site {text!r}",
            f"name a site by its number, its name or a part of it: {known}",
        )
    return picked


def print_site(profile: Profile, text: str, top: int | None) -> None:
    """Print one site: the stacks of its locks, their operations, and each lock."""
    out = console()
    for index, row in enumerate(pick(profile, text)):
        if index:
            out.print()
        _print_site(row.site, profile, top, out)


def _print_site(site: Site, profile: Profile, top: int | None, out: Console) -> None:
    heading = f"{site.name} (site {site.number}, {site.kind.value})"
    say(out, heading, style="bold")
    say(out, f"  ran under {profile.algorithm(site.kind)}")
    for words, stack in (("created", site.created), ("first acquired", site.first)):
        if stack:
            out.print(f"  {words}:")
            for line in stack_words(stack):
                say(out, line, "    ")
    form = table(title="operations")
    form.add_column("operation")
    counts = profile.counter is not None
    for heading in (
        *("number", "waited", "wait\ntotal", "wait\np99", "hold\np50", "hold\np99"),
        *("handover\np99", "trylocks", "failed"),
        *(("misses",) if counts else ()),
    ):
        form.add_column(heading, justify="right", no_wrap=True)
    for operation, use in site.stats.items():
        form.add_row(
            operation.value,
            count(use.acquisitions),
            count(use.contended),
            short_time(use.wait.total_ns, 3),
            short_time(use.wait.quantile(0.99)),
            short_time(use.hold.quantile(0.5)),
            short_time(use.hold.quantile(0.99)),
            short_time(use.handover.quantile(0.99)),
            count(use.trylocks),
            count(use.trylock_failures),
            *((few(use.cache_misses),) if counts else ()),
        )
    out.print()
    out.print(form)
    out.print()
    if profile.counter:
        say(out, f"misses: {profile.counter} of a thread in one critical section")
    elif profile.counter_absent:
        say(out, f"no cache misses were counted: {profile.counter_absent}")
    out.print()
    _print_locks(site, top, out)


def _print_locks(site: Site, top: int | None, out: Console) -> None:
    form = table(title=plural(len(site.locks), "lock"))
    form.padding = (0, 0, 0, 0)
    form.add_column("number", justify="right")
    form.add_column("address", no_wrap=True, min_width=14)
    for heading in (
        *("acqui-\nred", "waited", "wait\ntotal", "hold\ntotal", "owner\nchanges"),
        *("wai-\nters", "lived"),
    ):
        form.add_column(heading, justify="right", no_wrap=True)
    form.add_column("flags", overflow="fold")
    for lock in site.locks[:top]:  # sorted by wait time
        lived = "" if lock.died_ns is None else time(lock.died_ns - lock.born_ns)
        again = f" x{lock.creations}" if lock.creations > 1 else ""
        form.add_row(
            str(lock.number),
            f"{lock.address:#x}",
            count(lock.acquisitions),
            count(lock.contended),
            short_time(lock.wait_ns, 3),
            short_time(lock.hold_ns, 3),
            count(lock.owner_changes),
            few(lock.waiters_mean),
            f"{lived}{again}",
            ",".join(sorted(lock.flags)),
        )
    out.print(form)
    if top is not None and len(site.locks) > top:
        out.print(f"and {len(site.locks) - top:,} more: --top all")


def print_threads(profile: Profile, top: int | None) -> None:
    """Print the threads by time in critical sections, descending."""
    out = console()
    names = Names(profile)
    ordered = sorted(
        profile.threads, key=lambda one: one.section_ns + one.wait_ns, reverse=True
    )
    form = table(title=plural(len(ordered), "thread"))
    form.padding = (0, 0, 0, 0)
    form.add_column("thread", overflow="fold")
    for heading in (
        *("lived", "in sec-\ntions", "wai-\nting", "idle", "CPU", "switches"),
        *("forced", "migra-\ntions", "holds\ncut"),
    ):
        form.add_column(heading, justify="right", no_wrap=True)
    for thread in ordered[:top]:
        end = profile.duration_ns if thread.ended_ns is None else thread.ended_ns
        lived = max(0, end - thread.began_ns)
        form.add_row(
            escaped(f"{thread.number} {thread.name}".strip()),
            short_time(lived, 3),
            *(
                share(part / lived if lived else None)
                for part in (thread.section_ns, thread.wait_ns, thread.idle_ns)
            ),
            short_time(thread.cpu_ns, 3),
            count(thread.voluntary),
            count(thread.involuntary),
            count(thread.migrations),
            count(thread.preempted_holds),
        )
    out.print(form)
    if top is not None and len(ordered) > top:
        out.print(f"and {len(ordered) - top:,} more: --top all")
    for thread in ordered:
        if thread.waiting_for or thread.held:
            say(out, _at_the_end(names, thread.number, profile.duration_ns))


def _at_the_end(names: Names, number: int, duration_ns: int) -> str:
    thread = names.threads[number]
    words = names.thread(number)
    parts = []
    if thread.waiting_for:
        since = thread.waiting_since_ns
        how_long = "" if since is None else f" since {time(duration_ns - since)}"
        parts.append(f"waits for {names.lock(thread.waiting_for)}{how_long}")
    if thread.held:
        parts.append(f"holds {listed([names.lock(lock) for lock in thread.held])}")
    return f"at the end {words} {' and '.join(parts)}"


def print_histograms(profile: Profile, text: str) -> None:
    """Print the wait, hold and handover times of a site, one octave per line."""
    out = console()
    for row in pick(profile, text):
        idle = row.site.kind in IDLE_KINDS
        shown = False
        for times in ("wait",) if idle else TIMES:
            found: Distribution = getattr(row.use, times)
            if not found.timed:
                continue
            if shown:
                out.print()
            shown = True
            what = "waits" if idle else f"{times}s"
            say(
                out,
                f"{row.name}: {found.timed:,} of {found.number:,} {what} timed, p50 "
                f"{time(found.quantile(0.5))}, p99 {time(found.quantile(0.99))}, "
                f"longest {time(found.max_ns)}",
            )
            for line in histogram_lines(found):
                out.print(line)
        if not shown:
            say(out, f"{row.name}: nothing was timed.")


def octaves(found: Distribution) -> list[tuple[float, float, int]]:
    """Return (from, to, count) from the first non-empty octave to the last."""
    merged: list[tuple[float, float, int]] = []
    bucket = 0
    counts, edges = found.counts, found.edges_ns
    # The first bucket is a range of its own; then four buckets make an octave
    # (trace.h).
    widths = [1] + [4] * ((len(counts) + 2) // 4)
    for width in widths:
        end = min(bucket + width, len(counts))
        if bucket < end:
            merged.append((edges[bucket], edges[end], sum(counts[bucket:end])))
        bucket = end
    filled = [index for index, (_, _, number) in enumerate(merged) if number]
    return merged[filled[0] : filled[-1] + 1] if filled else []


def histogram_lines(found: Distribution) -> Iterator[str]:
    """Return a line for each octave: bounds, bar and count."""
    lines = octaves(found)
    most = max((number for _, _, number in lines), default=0)
    total = sum(number for _, _, number in lines)
    for low, high, number in lines:
        length = round(BAR * number / most)
        bar = "#" * (length or (1 if number else 0))
        part = share(number / total) if number else ""
        yield (
            f"{short_time(low):>7} - {short_time(high):>7} |{bar:<{BAR}}|"
            f"{number:>10,} {part:>6}"
        )
