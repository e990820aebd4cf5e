# SPDX-License-Identifier: MIT
"""Delegates and servers in an interval, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hasp.profile.live.interval import Interval
from hasp.profile.report.delegation import (
    HEADINGS,
    SERVER_HEADINGS,
    SERVERS_TITLE,
    TITLE,
    cells,
    server_cells,
)
from hasp.profile.report.layout import lines
from hasp.profile.report.words import count

NONE = "the program delegates no sections (hasp/delegate.h)"
RATE = "sec-\ntions/s"  # in place of the number of sections
PLACE = HEADINGS.index("sec-\ntions")


def _per_second(row: Sequence[str], sections: int, seconds: float) -> tuple[str, ...]:
    return (*row[:PLACE], count(round(sections / seconds)), *row[PLACE + 1 :])


def delegated_lines(interval: Interval, width: int) -> Iterator[str]:
    """Yield the tables; nothing if the program delegates no sections."""
    found = interval.delegation
    seconds = max(interval.seconds, 1e-9)
    for title, headings, rows in (
        (
            TITLE,
            HEADINGS,
            [_per_second(cells(one), one.sections, seconds) for one in found.delegates],
        ),
        (
            SERVERS_TITLE,
            SERVER_HEADINGS,
            [
                _per_second(server_cells(one), one.sections, seconds)
                for one in found.servers
            ],
        ),
    ):
        if rows:
            heads = (*headings[:PLACE], RATE, *headings[PLACE + 1 :])
            above, below = lines(heads, rows, width)
            yield from ("", title, *above, *below)
