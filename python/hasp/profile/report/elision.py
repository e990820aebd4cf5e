# SPDX-License-Identifier: MIT
"""The elided sections of each lock, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hasp.profile.model.elision import Elision
from hasp.profile.model.profile import Profile
from hasp.profile.report.figures import Row
from hasp.profile.report.words import count, few, share, short_time

HEADINGS = (
    *("lock", "elided", "taken", "begun", "com-\nmitted", "re-\ntries", "depth"),
    *("wasted", "fallback\nwait", "aborts,\nmostly"),
)
TITLES = {
    "rtm": "elided sections: transactions of the processor",
    "script": "elided sections, EMULATED: a script or seed chose the outcomes, "
    "and each section took its lock",
    "undo": "elided sections, EMULATED: one transaction at a time, rolled back by "
    "software",
}
SHOWN_CAUSES = 1


def elided_rows(found: Sequence[Row]) -> list[tuple[Row, Elision]]:
    """Return the rows with locks that were elided, or that Hasp tried to elide."""
    return [(row, row.use.elision) for row in found if row.use.elision is not None]


def title(profile: Profile) -> str:
    """Return the heading of the table; it tells emulated transactions from others."""
    return TITLES.get(profile.transactions, "elided sections")


def cells(row: Row, elision: Elision) -> tuple[str, ...]:
    """Return a row of the table, as in HEADINGS."""
    return (
        row.name,
        count(elision.elided),
        count(max(row.use.acquisitions - elision.elided, 0)),
        count(elision.begins),
        share(elision.commit_share),
        few(elision.retries),
        _depth(elision),
        share(elision.wasted_share),
        short_time(elision.wait_ns + elision.fallback_ns, 3),
        causes(elision),
    )


def _depth(elision: Elision) -> str:
    """Return the depth of the deepest nest that committed: 3, 8+, or - without one."""
    if not elision.deepest:
        return "-"
    return f"{elision.deepest}{'+' * (elision.deepest == len(elision.levels))}"


def causes(elision: Elision, most: int = SHOWN_CAUSES) -> str:
    """Return the most frequent causes of aborts with their shares of the aborts."""
    named = [
        f"{name} {share(times / elision.aborted)}"
        for name, times in elision.causes[:most]
    ]
    return ", ".join(named) or "-"


def elision_lines(elision: Elision) -> Iterator[str]:
    """Yield sentences about one lock, for the details of `hasp top`."""
    yield (
        f"{count(elision.elided)} sections elided; {count(elision.begins)} transactions"
        f" begun, {share(elision.commit_share)} committed, after "
        f"{few(elision.retries)} aborted attempts on average; deepest nest "
        f"{_depth(elision)}"
    )
    if elision.aborted:
        yield f"aborts: {causes(elision, len(elision.aborts))}"
    yield (
        f"{short_time(elision.commit_ns)} in committed transactions, "
        f"{short_time(elision.abort_ns)} wasted in aborted ones, "
        f"{short_time(elision.wait_ns)} waiting for a free lock, "
        f"{short_time(elision.fallback_ns)} for {count(elision.fallbacks)} fallbacks"
    )
    yield (
        f"taken without an attempt: {count(elision.skipped)} after earlier aborts, "
        f"{count(elision.guarded)} inside a lock whose elision failed; "
        f"{count(elision.busy)} because the lock did not become free"
    )
