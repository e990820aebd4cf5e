# SPDX-License-Identifier: MIT
"""Elided sections of the locks of a site, summed from the trace."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hasp.profile.model.clock import Clock
from hasp.profile.trace.format import Records, Transactions

CAUSES = (
    *("conflict", "capacity", "busy", "trylock"),
    *("wait", "explicit", "debug", "other"),
)
# Words for the transactions of a run.
TRANSACTIONS: dict[int, str] = {
    Transactions.NO_TRANSACTIONS: "",
    Transactions.PROCESSOR_TRANSACTIONS: "rtm",
    Transactions.SCRIPTED_TRANSACTIONS: "script",
    Transactions.UNDONE_TRANSACTIONS: "undo",
}


@dataclass(frozen=True)
class Elision:
    """Transactions, counted at the lock that began them; times in ns."""

    begins: int
    commits: int
    aborts: tuple[int, ...]  # by cause, as in CAUSES
    nested_aborts: int  # of these, in a nested section
    committed_after: tuple[int, ...]  # commits by aborted attempts; the last: or more
    levels: tuple[int, ...]  # commits by depth, from 1; the last: or more
    elided: int  # committed sections of these locks, nested ones included
    skipped: int  # acquisitions because of earlier aborts
    guarded: int  # acquisitions inside a lock whose elision failed
    busy: int  # acquisitions because the lock did not become free
    fallbacks: int  # acquisitions after attempts
    wait_ns: int  # until the lock was free, before attempts
    abort_ns: int  # in transactions that aborted: wasted
    commit_ns: int  # in transactions that committed
    fallback_ns: int  # acquiring the lock after attempts

    def __add__(self, other: Elision) -> Elision:
        def both(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, tuple):
                return tuple(a + b for a, b in zip(mine, theirs, strict=True))
            return mine + theirs

        return Elision(**{field.name: both(field.name) for field in fields(self)})

    @property
    def aborted(self) -> int:
        """The number of aborted transactions."""
        return sum(self.aborts)

    @property
    def commit_share(self) -> float | None:
        """The share of transactions that committed; None without transactions."""
        ended = self.commits + self.aborted
        return self.commits / ended if ended else None

    @property
    def wasted_share(self) -> float | None:
        """The share of the time in transactions that was in aborted ones."""
        spent = self.commit_ns + self.abort_ns
        return self.abort_ns / spent if spent else None

    @property
    def retries(self) -> float | None:
        """The mean number of aborted attempts before a commit."""
        tries = sum(after * times for after, times in enumerate(self.committed_after))
        return tries / self.commits if self.commits else None

    @property
    def deepest(self) -> int:
        """The depth of the deepest nest that committed; 8: or deeper."""
        return max((n for n, times in enumerate(self.levels, 1) if times), default=0)

    @property
    def causes(self) -> tuple[tuple[str, int], ...]:
        """The causes of aborts and their numbers, descending, without zeros."""
        found = [pair for pair in zip(CAUSES, self.aborts, strict=True) if pair[1]]
        return tuple(sorted(found, key=lambda pair: -pair[1]))


def elision_of(records: Records, clock: Clock) -> Elision | None:
    """Return the sum of the site statistics; None if nothing was elided or tried."""
    columns = records["elision"]

    def total(name: str) -> int:
        return int(columns[name].sum(dtype=np.uint64))

    def totals(name: str) -> tuple[int, ...]:
        return tuple(columns[name].sum(axis=0, dtype=np.uint64).tolist())

    counts = {
        name: total(name)
        for name in (
            *("begins", "commits", "nested_aborts", "elided"),
            *("skipped", "guarded", "busy", "fallbacks"),
        )
    }
    if not any(counts.values()):
        return None
    return Elision(
        **counts,
        aborts=totals("aborts"),
        committed_after=totals("committed_after"),
        levels=totals("levels"),
        **{
            f"{name}_ns": clock.ns(total(f"{name}_ticks"))
            for name in ("wait", "abort", "commit", "fallback")
        },
    )


def as_json(found: Elision | None) -> dict[str, Any] | None:
    """Return the numbers by name, aborts by cause."""
    if found is None:
        return None
    return {
        **vars(found),
        "aborts": dict(zip(CAUSES, found.aborts, strict=True)),
        "committed_after": list(found.committed_after),
        "levels": list(found.levels),
    }


def transactions_of(number: int) -> str:
    """Return the word for a trace's `transactions`; "" for an unknown number."""
    return TRANSACTIONS.get(number, "")
