# SPDX-License-Identifier: MIT
"""The recorder in a run of a program, and what it tells of all locks together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.profile.record import files
from hasp.profile.record.target import DEFAULT_LIMIT, settings_of

# The metrics of a recorded run, by the field of hasp.profile.model.totals.
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
# A share may be 0, and twice nothing is nothing: no best and worst of it, no ratios.
DESCRIPTIVE = ("lock_contended_share",)


class Recorder:
    """Tells the programs where to record, and finds what they recorded."""

    def __init__(
        self, trace: Path, *, sample: bool = True, limit: int = DEFAULT_LIMIT
    ) -> None:
        self._trace = trace.absolute()
        self._sample = sample
        self._limit = limit
        self._session = files.new_session()

    def settings(self, lock: str) -> dict[str, str]:
        """What puts a program that runs under `lock` under the recorder, too."""
        return settings_of(
            self._trace, self._session, lock, sample=self._sample, limit=self._limit
        )

    def clear(self) -> None:
        """Before a run: nothing of another one is there."""
        files.clear(self._trace)

    def traces(self) -> list[Path]:
        """What the last run recorded, a file for each process."""
        found = files.of_session(self._trace, self._session)
        return [trace.path for trace in found]

    def figures(self) -> dict[str, float]:
        """The metrics of the last run; {} where nothing was recorded.

        Of several processes that one counts which spent most in waiting and holding.
        """
        from hasp.profile.model.totals import statistics_of
        from hasp.profile.trace.reader import Trace

        found = []
        for path in self.traces():
            # One that its process did not get to begin says nothing.
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
