# SPDX-License-Identifier: MIT
"""What `hasp doctor` looks at: the machine, and a program that is to be interposed."""

from __future__ import annotations

from dataclasses import dataclass

FINE = "fine"
NOTE = "note"  # worth knowing, nothing is lost
LACK = "lack"  # something is missing, or will disturb


@dataclass(frozen=True)
class Finding:
    """One fact, and in words what follows from it for the use of Hasp."""

    topic: str
    name: str
    value: str
    level: str = FINE
    words: str = ""
