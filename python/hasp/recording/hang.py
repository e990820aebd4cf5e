# SPDX-License-Identifier: MIT
"""Whether a recorded program hangs, and who waits for whom in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hasp.output import note
from hasp.recording.files import Trace


class HangWatch:
    """Looks into the traces while they are written."""

    def __init__(self, pid: int, traces: Callable[[], Sequence[Trace]]) -> None:
        self._pid = pid
        self._traces = traces

    def tell(self) -> None:
        """Say who waits for whom now."""
        note("who waits for whom: nothing is known yet")

    def hangs(self, seconds: float) -> bool:
        """Whether nothing has moved for so long; said once, and never again."""
        return False
