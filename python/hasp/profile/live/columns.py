# SPDX-License-Identifier: MIT
"""The columns of the live view as text, for the screen and for plain tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.base.output import COLUMNS
from hasp.profile.live.interval import Interval, SiteRow, ThreadRow
from hasp.profile.model.snapshot import Snapshot
from hasp.profile.report.layout import shortened as both_ends
from hasp.profile.report.words import count, few, listed, plural, share

BARS = " ▁▂▃▄▅▆▇█"
SPARK_WIDTH = 10
SHORTEST_NAME = 19  # columns, however narrow the terminal is
NAME_WIDTH = 26  # the width that remains beside the other columns
STATE_WIDTH = 34  # the same in the threads' table
HOLDER_WIDTH = 12
LINE_WIDTH = 78
SHORTEST_COMMAND = 8


@dataclass(frozen=True)
class Order:
    """A sort order of the sites."""

    key: str  # to press
    title: str
    short: str  # for the line of keys
    value: Callable[[SiteRow], float]


ORDERS = (
    Order("w", "wait", "wait", lambda row: row.waiting),
    Order("h", "hold", "hold", lambda row: row.held),
    Order("a", "acquired", "acq", lambda row: row.acquisitions),
    Order("c", "contended", "cont", lambda row: row.contended or 0.0),
)


def order_of(title: str) -> Order:
    """Return the order of that title."""
    return next(order for order in ORDERS if order.title == title)


SITE_HEADINGS = ("site", "waiting", "held", "acq/s", "cont", "now", "holder", "waiters")
ELIDED = "elided"  # this column is only shown if locks are elided
ELIDED_PLACE = SITE_HEADINGS.index("cont")
THREAD_HEADINGS = ("thread", "tid", "waiting", "section", "cpu", "now")


def sorted_sites(interval: Interval, order: Order) -> list[SiteRow]:
    """Return the sites in use, sorted by `order`."""
    used = [
        row
        for row in interval.sites
        if row.acquisitions or row.waiters or row.waiting or row.holders
    ]
    return sorted(used, key=lambda row: (-order.value(row), row.name))


def site_headings(elides: bool) -> tuple[str, ...]:
    """Return the headings of the sites; `elides` adds the share of elided sections."""
    headings = list(SITE_HEADINGS)
    if elides:
        headings.insert(ELIDED_PLACE, ELIDED)
    return tuple(headings)


def site_cells(
    row: SiteRow,
    history: Sequence[float],
    columns: int = COLUMNS,
    elides: bool = False,
) -> tuple[str, ...]:
    """Return a site's cells, as in site_headings(); a long name keeps both ends."""
    cells = list(_usual_cells(row, history, columns - elides * (len(ELIDED) + 1)))
    if elides:
        cells.insert(ELIDED_PLACE, share(row.elided))
    return tuple(cells)


def _usual_cells(
    row: SiteRow, history: Sequence[float], columns: int
) -> tuple[str, ...]:
    return (
        both_ends(row.name, max(NAME_WIDTH + columns - COLUMNS, SHORTEST_NAME)),
        few(row.waiting) if row.waiting >= 0.05 or not row.waiting else "<0.1",
        share(row.held),
        count(round(row.acquisitions)),
        share(row.contended),
        str(row.waiters or ""),
        shortened(listed(row.holders, 1), HOLDER_WIDTH) if row.holders else "",
        sparkline(history),
    )


def thread_cells(row: ThreadRow, columns: int = COLUMNS) -> tuple[str, ...]:
    """Return a thread's cells, as in THREAD_HEADINGS."""
    return (
        row.name,
        str(row.tid),
        share(row.waiting),
        share(row.section),
        share(row.cpu),
        both_ends(row.state, STATE_WIDTH + max(0, columns - COLUMNS)),
    )


def sparkline(history: Sequence[float], width: int = SPARK_WIDTH) -> str:
    """Return bars of the last values, scaled to the highest remembered value."""
    most = max(history, default=0.0)
    if most <= 0:
        return ""
    steps = len(BARS) - 1
    shown = history[-width:]
    # Every value above zero gets a visible bar.
    return "".join(BARS[max(round(v / most * steps), 1) if v else 0] for v in shown)


def shortened(text: str, width: int) -> str:
    """Return the text, cut with an ellipsis if it is too long."""
    return text if len(text) <= width else text[: width - 1] + "…"


def headline(snapshot: Snapshot, interval: Interval) -> str:
    """Return the program in one line."""
    facts = (
        f" ({snapshot.pid}), {snapshot.lock}: {plural(len(snapshot.threads), 'thread')}"
        f", {share(interval.section_share)} in sections, "
        f"recording {share(snapshot.overhead_share)}"
    )
    program, _, words = snapshot.command.partition(" ")
    command = f"{Path(program).name} {words}".strip()
    return shortened(command, max(LINE_WIDTH - len(facts), SHORTEST_COMMAND)) + facts
