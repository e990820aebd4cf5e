# SPDX-License-Identifier: MIT
"""The six ways to run a program that Moore's thesis (Virginia Tech 2015) compares."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.locks.native import ELISION
from hasp.predict.load import Scheme


@dataclass(frozen=True)
class Configuration:
    """One way to run the program's mutexes."""

    name: str
    thesis: str  # its name in the thesis
    elided: bool
    scheme: Scheme

    def lock(self, inner: str) -> str:
        """Return the name of the mutexes' algorithm: `inner`, or `inner` elided."""
        return f"{ELISION}{inner}" if self.elided else inner

    @property
    def is_global(self) -> bool:
        """True if all mutexes are one."""
        return self.scheme.one_lock


# "global": one recursive mutex replaces all; "nest": a trylock inside an elided section
# is elided, too.
FINE = Configuration("fine", "futex-fine", False, Scheme())
GLOBAL = Configuration("global", "futex-global", False, Scheme(one_lock=True))
ELIDE = Configuration("elide", "htm-fine-ta", True, Scheme())
ELIDE_NEST = Configuration(
    "elide-nest", "htm-fine-nta", True, Scheme(trylock_nests=True)
)
ELIDE_GLOBAL = Configuration(
    "elide-global", "htm-global-ta", True, Scheme(one_lock=True)
)
ELIDE_GLOBAL_NEST = Configuration(
    "elide-global-nest",
    "htm-global-nta",
    True,
    Scheme(one_lock=True, trylock_nests=True),
)
CONFIGURATIONS = (
    *(FINE, GLOBAL, ELIDE, ELIDE_NEST),
    *(ELIDE_GLOBAL, ELIDE_GLOBAL_NEST),
)


def simulated(has_inner_trylocks: bool) -> tuple[Configuration, ...]:
    """Return the configurations that differ from each other.

    Without a trylock inside another section, what such a trylock does is irrelevant;
    with one mutex, it always belongs to the thread already.
    """
    if has_inner_trylocks:
        return (FINE, GLOBAL, ELIDE, ELIDE_NEST, ELIDE_GLOBAL)
    return (FINE, GLOBAL, ELIDE, ELIDE_GLOBAL)


def same_as(configuration: Configuration) -> Configuration:
    """Return the simulated one that this one equals if no trylock is in a section."""
    if configuration is ELIDE_NEST:
        return ELIDE
    return ELIDE_GLOBAL if configuration is ELIDE_GLOBAL_NEST else configuration
