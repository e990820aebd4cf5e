# SPDX-License-Identifier: MIT
"""Turn SIGINT and SIGTERM into exceptions in the main thread."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from hasp.base.errors import Interrupted

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_on_signals() -> None:
    """Make SIGINT and SIGTERM raise Interrupted in the main thread."""

    def interrupt(number: int, _frame: object) -> None:
        raise Interrupted(number)

    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer Ctrl-C during a block that must run to completion."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
