# SPDX-License-Identifier: MIT
"""The one kind of error that users are meant to see."""

from __future__ import annotations

EXIT_FINE = 0
EXIT_FINDING = 1
EXIT_REFUSED = 2
EXIT_INTERRUPTED = 130


class HaspError(Exception):
    """Something that the user can put right: what is wrong, and what to do about it.

    The command line prints both on stderr and ends with EXIT_REFUSED.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class Interrupted(BaseException):
    """Ctrl-C, or a request to end, arrived; what was measured so far stays usable.

    Not an Exception, so that no handler for failures swallows it.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_status = 128 + signal_number
