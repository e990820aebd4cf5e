# SPDX-License-Identifier: MIT
"""Recording of a program's locks during a run, summarised over all locks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.locks.given import Algorithms
from hasp.profile.model.totals import statistics_of
from hasp.profile.record import files
from hasp.profile.record.target import DEFAULT_LIMIT, settings_of
from hasp.profile.trace.reader import Trace

# Metrics of a recorded run by their field in hasp.profile.model.totals.
METRICS = {
    "wait_p50_ns": "lock_wait_p50_ns",
    "wait_p99_ns": "lock_wait_p99_ns",
    "wait_max_ns": "lock_wait_max_ns",
    "hold_p50_ns": "lock_hold_p50_ns",
    "hold_p99_ns": "lock_hold_p99_ns",
    "hold_max_ns": "lock_hold_max_ns",
    "contended_share": "lock_contended_share",
}
LESS_IS_BETTER = tuple(METRICS.values())
# A share may be 0, so locks are not ranked by it and it has no ratios.
DESCRIPTIVE = ("lock_contended_share",)


class Recorder:
    """Configures programs to record themselves, and finds their traces."""

    def __init__(
        self, trace: Path, *, sample: bool = True, limit: int = DEFAULT_LIMIT
    ) -> None:
        self._trace = trace.absolute()
        self._sample = sample
        self._limit = limit
        self._session = files.new_session()

    def settings(self, lock: Algorithms) -> dict[str, str]:
        """The environment variables that make a program under `lock` record itself."""
        return settings_of(
            self._trace, self._session, lock, sample=self._sample, limit=self._limit
        )

    def clear(self) -> None:
        """Delete the traces of earlier runs."""
        files.clear(self._trace)

    def traces(self) -> list[Path]:
        """Return the traces of the last run, one for each process."""
        found = files.of_session(self._trace, self._session)
        return [trace.path for trace in found]

    def figures(self) -> dict[str, float]:
        """Return the metrics of the last run; empty if nothing was recorded.

        If there were several processes, the one that spent most time waiting for locks
        and holding them counts.
        """
        found = []
        for path in self.traces():
            # A process that ended early may leave an empty trace.
            with contextlib.suppress(HaspError):
                found.append(statistics_of(Trace(path)))
        if not found:
            return {}
        most = max(found, key=lambda one: one.spent_ns)
        return dict(_known(vars(most)))


def _known(fields: dict[str, float | None]) -> Iterator[tuple[str, float]]:
    for field, metric in METRICS.items():
        value = fields[field]
        if value is not None:
            yield metric, value
