# SPDX-License-Identifier: MIT
"""The errors that users see, and the exit statuses of Hasp."""

from __future__ import annotations

EXIT_FINE = 0
EXIT_FINDING = 1
EXIT_REFUSED = 2
EXIT_INTERRUPTED = 130


class HaspError(Exception):
    """An error that the user can correct: a message, and a remedy.

    The command line prints both on stderr and exits with EXIT_REFUSED.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class Interrupted(BaseException):
    """SIGINT or SIGTERM arrived; the measurements made so far remain usable.

    It is not an Exception, because handlers of failures must not catch it.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_status = 128 + signal_number
