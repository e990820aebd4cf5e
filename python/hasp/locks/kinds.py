# SPDX-License-Identifier: MIT
"""The kinds of pthread objects whose algorithm Hasp can replace, and executors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean


class Kind(NamedTuple):
    """A kind of objects that threads wait for, with its words in options."""

    name: str  # in JSON, plans and labels
    noun: str  # in sentences
    option: str  # selects one algorithm
    setting: str  # environment variable of libhasp.so

    @property
    def plural(self) -> str:
        """The word for several of them, as `--only` accepts it: `rwlocks`."""
        return _plural(self.name)

    @property
    def nouns(self) -> str:
        """The plural of the noun."""
        return _plural(self.noun)

    @property
    def list_option(self) -> str:
        """The option that selects several algorithms."""
        return f"{self.option}s"


def _plural(word: str) -> str:
    return f"{word}es" if word.endswith("x") else f"{word}s"


MUTEX = Kind("mutex", "mutex", "--lock", "HASP_LOCK")
RWLOCK = Kind("rwlock", "reader-writer lock", "--rwlock", "HASP_RWLOCK")
SPINLOCK = Kind("spinlock", "spin lock", "--spinlock", "HASP_SPINLOCK")
BARRIER = Kind("barrier", "barrier", "--barrier", "HASP_BARRIER")
KINDS = (MUTEX, RWLOCK, SPINLOCK, BARRIER)
# Programs choose executors in their source, by hasp_delegate_init(): no option of
# `hasp run` replaces one.
EXECUTOR = Kind("executor", "executor", "hasp/delegate.h", "")
LISTED_KINDS = (*KINDS, EXECUTOR)


def kind_of(word: str, kinds: Sequence[Kind] = KINDS) -> Kind:
    """Return the kind with this name or plural; a HaspError suggests similar words."""
    for kind in kinds:
        if word in (kind.name, kind.plural):
            return kind
    offer = did_you_mean(word.lower(), {kind.name: kind.name for kind in kinds})
    raise HaspError(
        f"there is no kind of lock called {word!r}",
        f"{offer}kinds: {', '.join(kind.name for kind in kinds)}",
    )
