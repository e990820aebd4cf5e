# SPDX-License-Identifier: MIT
"""The live view as tables on standard output, for logs, pipes and tests."""

from __future__ import annotations

import time

from hasp.base.output import console, escaped, table
from hasp.profile.live.columns import (
    ELIDED,
    Order,
    headline,
    site_cells,
    site_headings,
    sorted_sites,
)
from hasp.profile.live.delegated import delegated_lines
from hasp.profile.live.feed import Feed
from hasp.profile.live.source import Source

FIRST_LOOKS = 0.02  # seconds between polls for the first trace, then longer
LONGEST_PAUSE = 0.5
RIGHT = ("waiting", "held", "acq/s", "cont", "now", ELIDED)


def show(source: Source, interval: float, tables: int, order: Order, rows: int) -> None:
    """Print one table per `interval`, fewer if the program ends first.

    Each covers the time since the previous one; the first covers the time since the
    start.
    """
    feed = _first_feed(source)
    if feed is None:
        return
    feed.look()
    for number in range(tables):
        ended = _wait(source, interval)
        _print(feed, order, rows, number)
        if ended:
            return


def _first_feed(source: Source) -> Feed | None:
    """Return the first recorded process; None if the program ends without one."""
    pause = FIRST_LOOKS
    while True:
        ended = source.status() is not None
        traces = source.traces()
        if traces:
            return Feed(traces[0].path)
        if ended:
            return None
        time.sleep(pause)
        pause = min(1.2 * pause, LONGEST_PAUSE)


def _wait(source: Source, interval: float) -> bool:
    """Wait for the interval to pass; return True if the program has ended."""
    deadline = time.monotonic() + interval
    while source.status() is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(left, FIRST_LOOKS * 5))
    return True


def _print(feed: Feed, order: Order, rows: int, number: int) -> None:
    interval = feed.look()
    assert feed.snapshot is not None
    out = console()
    if number:
        out.print()
    out.print(headline(feed.snapshot, interval))
    sites = sorted_sites(interval, order)
    form = table()
    elides = feed.snapshot.elides
    for heading in site_headings(elides):
        right = "right" if heading in RIGHT else "left"
        form.add_column(heading, justify=right, no_wrap=True)  # type: ignore[arg-type]
    for row in sites[:rows]:
        form.add_row(*site_cells(row, feed.history(row), elides=elides))
    out.print(form)
    if len(sites) > rows:
        out.print(f"and {len(sites) - rows} more")
    for line in delegated_lines(interval, out.width):
        out.print(escaped(line), soft_wrap=True)
