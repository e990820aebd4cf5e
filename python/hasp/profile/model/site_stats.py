# SPDX-License-Identifier: MIT
"""Operations of threads on the locks of each site, summed from the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from hasp.profile.model.clock import Clock
from hasp.profile.model.distribution import NOTHING, Distribution
from hasp.profile.model.elision import elision_of
from hasp.profile.model.profile import Operation, SiteStats
from hasp.profile.trace import format
from hasp.profile.trace.format import VERSION, Records

OPERATIONS = {
    format.Operation.LOCK: Operation.LOCK,
    format.Operation.READ: Operation.READ,
    format.Operation.WRITE: Operation.WRITE,
    format.Operation.WAIT: Operation.WAIT,
    format.Operation.BARRIER: Operation.BARRIER,
    format.Operation.RELOCK: Operation.RELOCK,
}
WAKES = ("woken_by_signal", "woken_by_broadcast", "empty_signals", "futile_wakes")
HOLDING = {Operation.LOCK, Operation.READ, Operation.WRITE, Operation.RELOCK}


class StatsReader:
    """Converts records of the trace to Use."""

    def __init__(self, clock: Clock, version: int = VERSION) -> None:
        self.clock = clock
        self._counts_wakes = version >= 2  # of the trace's format
        self.edges = clock.edges_ns()

    def _distribution(
        self, records: Records, name: str, number: int, sampled: int = 0
    ) -> Distribution:
        total = self.clock.ns(_sum(records, f"{name}_ticks"))
        most = self.clock.ns(records[f"{name}_most"].max(initial=0))
        counts = records[name]["bucket"].sum(axis=0, dtype=np.int64)
        if not number and not total and not counts.any():
            return NOTHING
        return Distribution(
            tuple(counts.tolist()), self.edges, total, max(most, 0), number, sampled
        )

    def use(self, records: Records, operation: Operation) -> SiteStats:
        """Return the sum of the records of one operation."""
        acquisitions = _sum(records, "acquisitions")
        # Fields of a running program change one by one, so the counts may be
        # inconsistent.
        contended = min(_sum(records, "contended"), acquisitions)
        elision = elision_of(records, self.clock)
        acquired = acquisitions - (elision.elided if elision else 0)
        held = max(acquired, 0) if operation in HOLDING else 0
        return SiteStats(
            acquisitions=acquisitions,
            contended=contended,
            wait=self._distribution(records, "wait", contended),
            hold=self._distribution(records, "hold", held, _sum(records, "timed")),
            handover=self._distribution(
                records, "handover", _sum(records, "handovers")
            ),
            trylocks=_sum(records, "trylocks"),
            trylock_failures=_sum(records, "trylock_failures"),
            longest_failing_run=int(records["longest_failing_run"].max(initial=0)),
            timeouts=_sum(records, "timeouts"),
            signals=_sum(records, "signals"),
            broadcasts=_sum(records, "broadcasts"),
            owner_changes=_sum(records, "owner_changes"),
            node_changes=_sum(records, "node_changes"),
            nested=_sum(records, "nested"),
            samples_spinning=_sum(records, "samples_spinning"),
            samples_parked=_sum(records, "samples_parked"),
            cache_misses_counted=_sum(records, "cache_misses"),
            counted_sections=_sum(records, "counted_sections"),
            unseen_waits=_sum(records, "unseen_waits"),
            unseen_wait_ns=self.clock.ns(_sum(records, "unseen_wait_ticks")),
            trying_ns=self.clock.ns(_sum(records, "trying_ticks")),
            taking_ns=self.clock.ns(_sum(records, "taking_ticks")),
            taken_timed=max(_sum(records, "timed") - contended, 0),
            elision=elision,
            **self._wakes(records, operation),
        )

    def _wakes(self, records: Records, operation: Operation) -> dict[str, int]:
        if operation is not Operation.WAIT or not self._counts_wakes:
            return {}
        return {name: _sum(records, name) for name in WAKES}

    def by_operation(self, records: Records) -> dict[Operation, SiteStats]:
        """Return one Use for each operation that occurs."""
        return {
            ours: self.use(records[records["operation"] == theirs], ours)
            for theirs, ours in OPERATIONS.items()
            if (records["operation"] == theirs).any()
        }


class ThreadStats(Mapping[int, Mapping[Operation, SiteStats]]):
    """The uses of one site by thread, summed on access."""

    def __init__(self, reader: StatsReader, records: Records) -> None:
        self._reader = reader
        self._records = records
        self._threads: NDArray[np.uint32] = np.unique(records["thread"])

    def __iter__(self) -> Iterator[int]:
        return iter(self._threads.tolist())

    def __len__(self) -> int:
        return len(self._threads)

    def __getitem__(self, thread: int) -> Mapping[Operation, SiteStats]:
        mine = self._records[self._records["thread"] == thread]
        if not len(mine):
            raise KeyError(thread)
        return self._reader.by_operation(mine)


def _sum(records: Records, name: str) -> int:
    """Sum exactly whatever the file contains: a 64-bit sum could wrap around."""
    column = records[name]
    if column.max(initial=0) < 1 << 40:
        return int(column.sum(dtype=np.int64))
    return sum(column.tolist())
