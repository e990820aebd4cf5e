# SPDX-License-Identifier: MIT
"""The algorithms that a recorded process ran under."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hasp.locks.given import SEPARATOR
from hasp.locks.kinds import KINDS, MUTEX
from hasp.locks.native import REFERENCE
from hasp.profile.model.kinds import Kind
from hasp.profile.trace.reader import text

# In the order of a trace's `other_locks`, which hasp.profile.record.target defines.
OTHERS = tuple(Kind(kind.name) for kind in KINDS if kind is not MUTEX)


def other_locks(header: np.void) -> dict[Kind, str]:
    """Return the algorithm of each kind except mutexes that was not glibc's."""
    names = text(header["other_locks"]).split(SEPARATOR)
    return {
        kind: name
        for kind, name in zip(OTHERS, names, strict=False)
        if name not in ("", REFERENCE)
    }


def of_kind(kind: Kind, mutexes: str, others: Mapping[Kind, str]) -> str:
    """Return the algorithm of a kind; condition variables have that of mutexes."""
    if kind in (Kind.MUTEX, Kind.CONDITION):
        return mutexes
    return others.get(kind, REFERENCE)


def in_words(mutexes: str, others: Mapping[Kind, str]) -> str:
    """Return the algorithms of a run, leaving out glibc's of other kinds."""
    named = [f"{kind.value} {name}" for kind, name in others.items()]
    return ", ".join([mutexes, *named])
