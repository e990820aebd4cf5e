# SPDX-License-Identifier: MIT
"""The algorithms that a user chooses for a program.

A choice has a label, which results, traces and studies contain and options accept:

    mcs                               mutexes under mcs
    rwlock:phase-fair                 rwlocks under phase-fair
    mcs/barrier:tournament            mutexes and barriers
    plan:FILE                         by site

Kinds that are not named keep glibc's algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.locks import native
from hasp.locks.kinds import KINDS, MUTEX, Kind, kind_of
from hasp.locks.native import REFERENCE, LockInfo
from hasp.locks.site_plan.name import PREFIX

if TYPE_CHECKING:
    from hasp.locks.site_plan.model import SitePlan

SEPARATOR = "/"


@dataclass(frozen=True)
class Algorithms:
    """The algorithm of each kind, and those of a plan's sites."""

    chosen: tuple[LockInfo, ...] = ()  # one for each replaced kind, in order of KINDS
    plan: SitePlan | None = None

    @property
    def name(self) -> str:
        """The label."""
        if self.plan:
            return self.plan.name
        return SEPARATOR.join(map(label, self.chosen)) or REFERENCE

    @property
    def is_reference(self) -> bool:
        """Return true if the program runs natively, with nothing preloaded."""
        return not (self.chosen or self.plan)

    @property
    def used(self) -> list[LockInfo]:
        """All algorithms in use, the defaults first; the reference if none other is."""
        if self.plan:
            return [native.lock(name, kind_of(kind)) for kind, name in self.plan.used]
        return list(self.chosen) or [native.lock(REFERENCE)]

    def of(self, kind: Kind) -> str:
        """Return the name of a kind's algorithm, apart from a plan's entries."""
        found = (lock.name for lock in self.chosen if lock.kind == kind.name)
        return next(found, REFERENCE)


NATIVE = Algorithms()


def label(lock: LockInfo) -> str:
    """Return an algorithm's label: its name, with the kind unless it is for mutexes."""
    if lock.kind == MUTEX.name or lock.is_reference:
        return lock.name
    return f"{lock.kind}:{lock.name}"


def algorithms(locks: Iterable[LockInfo]) -> Algorithms:
    """Return the choice of these algorithms, at most one for each kind."""
    chosen = {lock.kind: lock for lock in locks if not lock.is_reference}
    return Algorithms(tuple(chosen[k.name] for k in KINDS if k.name in chosen))


def given_lock(name: str) -> Algorithms:
    """Return the algorithms with this label.

    Raises HaspError for an unknown lock, and for a file that is not a plan.
    """
    if name.startswith(PREFIX):
        return of_plan(given_plan(name.removeprefix(PREFIX)))
    chosen: dict[Kind, LockInfo] = {}
    for word in name.split(SEPARATOR):
        kind, lock = split_label(word)
        if kind in chosen:
            raise HaspError(
                f"{name!r} has two algorithms for {kind.nouns}", "remove one of them"
            )
        chosen[kind] = native.lock(lock, kind)
    return algorithms(chosen.values())


def split_label(word: str) -> tuple[Kind, str]:
    """Return the kind and the name in a label of one algorithm."""
    for kind in KINDS:
        if kind is not MUTEX and word.startswith(f"{kind.name}:"):
            return kind, word.partition(":")[2]
    return MUTEX, word


def given_plan(file: str) -> SitePlan:
    """Return the plan in a file, which may be a pipe and is read once."""
    # Imported here because most commands start without a plan.
    from hasp.locks.site_plan import toml_file

    return toml_file.load(Path(file))


def of_plan(plan: SitePlan) -> Algorithms:
    """Return the algorithms of a plan."""
    defaults = (native.lock(name, kind_of(kind)) for kind, name in plan.defaults)
    return Algorithms(algorithms(defaults).chosen, plan)
