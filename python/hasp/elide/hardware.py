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
    """The transactions that elided sections begin."""

    works: bool  # the processor's do, or they are emulated
    emulated: bool
    words: str

    @property
    def measures(self) -> str:
        """The word for what runs with them show, in JSON."""
        return "emulation" if self.emulated else "measurement"


def transactions() -> Transactions:
    """Return this machine's transactions, or those that HASP_ELISION chooses."""
    chosen = os.environ.get(BACK_END, "")
    if chosen.startswith(EMULATED):
        return Transactions(True, True, f"emulated ({BACK_END}={chosen})")
    if chosen == "never":
        return Transactions(False, False, f"{BACK_END}=never turns transactions off")
    found = probed()
    if found is None:
        raise HaspError(
            "hasp-locks does not run, so Hasp cannot tell whether this machine has "
            "transactions",
            "install Hasp again for this machine",
        )
    return Transactions(found["hardware"] == "works", False, str(found["text"]))
