# SPDX-License-Identifier: MIT
"""The checks of `hasp doctor`: of the host, and of a program."""

from __future__ import annotations

from dataclasses import dataclass

FINE = "fine"
NOTE = "note"  # worth knowing
LACK = "lack"  # something is missing, or disturbs measurements


@dataclass(frozen=True)
class Finding:
    """One fact, with an explanation of its consequences."""

    topic: str
    name: str
    value: str
    level: str = FINE
    words: str = ""
