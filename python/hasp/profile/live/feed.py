# SPDX-License-Identifier: MIT
"""Poll a recording, and keep the history that the view needs."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from pathlib import Path

import numpy as np

from hasp.profile.live.interval import Interval, SiteRow, between
from hasp.profile.model.build import site_names, symbolizer_of
from hasp.profile.model.clock import Clock
from hasp.profile.model.delegate_names import name_of_delegate
from hasp.profile.model.delegation import Delegation, delegation_of
from hasp.profile.model.sites import Stacks
from hasp.profile.model.snapshot import Place, Snapshot, take
from hasp.profile.symbols.symbolizer import Symbolizer
from hasp.profile.trace import delegation_sums
from hasp.profile.trace.format import ChunkKind
from hasp.profile.trace.reader import Trace

HISTORY = 60  # intervals
NAMING_SHARE = 0.1  # maximum share of the time for naming new sites
UNNAMED = "(not named yet)"


class Names:
    """Site names, resolved when new sites appear."""

    def __init__(self) -> None:
        self._known: dict[Place, str] = {}
        self._asked: set[Place] = set()
        self._delegates: dict[tuple[int, int], str] = {}  # by address and stack
        self._not_before = 0.0
        self._symbolizer: Symbolizer | None = None
        self._modules = 0

    def update(self, snapshot: Snapshot) -> None:
        """Resolve new sites, unless the last resolution was slow and recent."""
        wanted = {*snapshot.sites, *snapshot.place_of.values()} - self._asked
        fresh = [one for one in snapshot.delegates if self._is_new(one)]
        begin = time.monotonic()
        if not (wanted or fresh) or begin < self._not_before:
            return
        trace, symbolizer = self._read(snapshot.path)
        stacks = Stacks(trace, symbolizer)
        self._delegates.update(
            (_key(one), name_of_delegate(one, stacks)) for one in fresh
        )
        found = site_names(trace, symbolizer)
        self._known.update(
            (Place(kind, stack), name) for (kind, stack), name in found.items()
        )
        self._asked |= wanted
        end = time.monotonic()
        self._not_before = end + (end - begin) / NAMING_SHARE

    def _read(self, path: Path) -> tuple[Trace, Symbolizer]:
        trace = Trace(path)
        modules = len(trace.all(ChunkKind.MODULES))
        # Debug information is read once, and again after a library is loaded.
        if self._symbolizer is None or modules != self._modules:
            self._symbolizer, self._modules = symbolizer_of(trace), modules
        return trace, self._symbolizer

    def _is_new(self, delegate: np.void) -> bool:
        return bool(delegate["address"]) and _key(delegate) not in self._delegates

    def of_delegate(self, delegate: np.void) -> str:
        """Return the name of a record of the trace."""
        return self._delegates.get(_key(delegate), UNNAMED)

    def __call__(self, place: Place) -> str:
        return self._known.get(place, UNNAMED)


def _key(delegate: np.void) -> tuple[int, int]:
    return int(delegate["address"]), int(delegate["created_stack"])


def _delegation(before: Snapshot | None, now: Snapshot, names: Names) -> Delegation:
    """Return the sections that were delegated between two snapshots."""
    delegates, servers = now.delegates.copy(), now.servers.copy()
    if before:
        delegation_sums.subtract(ChunkKind.DELEGATES, delegates, before.delegates)
        delegation_sums.subtract(ChunkKind.SERVERS, servers, before.servers)
    clock = Clock(now.begin, 0, now.ns_per_tick)
    return delegation_of(delegates, servers, clock, names.of_delegate)


class Feed:
    """The trace of one process, interval by interval."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.snapshot: Snapshot | None = None
        self.interval: Interval | None = None
        self.names = Names()
        self._waiting: dict[tuple[str, str], deque[float]] = {}

    def look(self) -> Interval:
        """Return what happened since the last poll."""
        now = take(self.path)
        self.names.update(now)
        # A stopped or ended process writes nothing between two polls.
        if self.interval is None or self.snapshot is None or now != self.snapshot:
            self.interval = replace(
                between(self.snapshot, now, self.names),
                delegation=_delegation(self.snapshot, now, self.names),
            )
        self.snapshot = now
        for row in self.interval.sites:
            key = (row.name, row.kind)
            history = self._waiting.setdefault(key, deque(maxlen=HISTORY))
            history.append(row.waiting)
        return self.interval

    def history(self, row: SiteRow) -> list[float]:
        """Return the mean number of waiting threads in the last intervals."""
        return list(self._waiting.get((row.name, row.kind), ()))
