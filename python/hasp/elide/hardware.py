# SPDX-License-Identifier: MIT
"""The transactions that elided locks would use on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.launch.transactions import probed

BACK_END = "HASP_ELISION"
OPTIONS = "HASP_ELISION_OPTIONS"
EMULATED = ("script:", "seed:", "undo")


@dataclass(frozen=True)
class Transactions:
    """What begins when an elided section begins."""

    works: bool  # there are some: the processor's, or emulated ones
    emulated: bool
    words: str


def transactions() -> Transactions:
    """Return this machine's transactions, or what HASP_ELISION replaces them by."""
    chosen = os.environ.get(BACK_END, "")
    if chosen.startswith(EMULATED):
        return Transactions(True, True, f"emulated ({BACK_END}={chosen})")
    if chosen == "never":
        return Transactions(False, False, f"{BACK_END}=never turns transactions off")
    found = probed()
    if found is None:
        raise HaspError(
            "hasp-locks does not run, so it is not known what this machine has",
            "install Hasp again for this machine",
        )
    return Transactions(found["hardware"] == "works", False, str(found["text"]))
