# SPDX-License-Identifier: MIT
"""Ctrl-C and requests to end, as exceptions in the main thread."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from hasp.base.errors import Interrupted

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_on_signals() -> None:
    """Let Ctrl-C and requests to end raise Interrupted in the main thread."""

    def interrupt(number: int, _frame: object) -> None:
        raise Interrupted(number)

    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Keep Ctrl-C waiting while something must not be left half done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
