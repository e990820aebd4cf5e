# SPDX-License-Identifier: MIT
"""Where a plan can be carried out: here, or at the PLACE of `hasp study run --on`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from hasp.errors import HaspError
from hasp.study.campaign import Campaign

# Takes the plan, the store's folder, and the machine's name in it if one was given;
# returns the exit status.
CarryOut = Callable[[Campaign, Path, str | None], int]


def _simulated(place: str) -> CarryOut:
    from hasp.study import simulated

    machine = simulated.machine_of(place)
    return partial(simulated.carry_out, machine=machine)


# By the word before the colon: what makes a place of its whole name, and how that name
# is written.
PLACES: dict[str, tuple[Callable[[str], CarryOut], str]] = {
    "simulated": (_simulated, "simulated:NAME, a machine of `hasp simulate --list`"),
}


def place_of(place: str | None) -> CarryOut:
    """What carries a plan out at a place; None: here."""
    if place is None:
        from hasp.study import session

        return session.carry_out
    kind = place.partition(":")[0]
    if kind not in PLACES:
        forms = "; ".join(form for _, form in PLACES.values())
        raise HaspError(f"--on {place}: no such place", f"write {forms}")
    make, _ = PLACES[kind]
    return make(place)
