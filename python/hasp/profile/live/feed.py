# SPDX-License-Identifier: MIT
"""Poll a recording, and keep the history that the view needs."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

from hasp.profile.live.interval import Interval, SiteRow, between
from hasp.profile.model.build import site_names, symbolizer_of
from hasp.profile.model.snapshot import Place, Snapshot, take
from hasp.profile.symbols.symbolizer import Symbolizer
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
        self._not_before = 0.0
        self._symbolizer: Symbolizer | None = None
        self._modules = 0

    def update(self, snapshot: Snapshot) -> None:
        """Resolve new sites, unless the last resolution was slow and recent."""
        wanted = {*snapshot.sites, *snapshot.place_of.values()} - self._asked
        begin = time.monotonic()
        if not wanted or begin < self._not_before:
            return
        found = site_names(*self._read(snapshot.path))
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

    def __call__(self, place: Place) -> str:
        return self._known.get(place, UNNAMED)


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
            self.interval = between(self.snapshot, now, self.names)
        self.snapshot = now
        for row in self.interval.sites:
            key = (row.name, row.kind)
            history = self._waiting.setdefault(key, deque(maxlen=HISTORY))
            history.append(row.waiting)
        return self.interval

    def history(self, row: SiteRow) -> list[float]:
        """Return the mean number of waiting threads in the last intervals."""
        return list(self._waiting.get((row.name, row.kind), ()))
