# SPDX-License-Identifier: MIT
"""A plan: the algorithm for the objects of each site, and how to recognise a site.

A site is the source line that creates a mutex, rwlock or barrier or, if the object is
not initialised by a call, the one that locks it first. It is identified by the return
addresses of that call, or for a global object by its address. Both are relative to a
module's file, so they are valid wherever it is loaded. The build-id identifies the
build that was profiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hasp.locks.kinds import MUTEX
from hasp.locks.site_plan.name import UNNAMED

MAX_FRAMES = 4  # return addresses that identify a site, as in the recorder
MAX_ENTRIES = 256  # limits of libhasp.so
MAX_MODULES = 64


@dataclass(frozen=True)
class Module:
    """A program or library file."""

    name: str  # without folders
    build_id: str = ""  # hexadecimal; "": any file of that name


@dataclass(frozen=True)
class AddressRange:
    """A range of addresses in a module's file, both ends included.

    Usually one address; more if only the source line is known.
    """

    module: Module
    first: int
    last: int

    @classmethod
    def at(cls, module: Module, offset: int) -> AddressRange:
        """Return the range of one address."""
        return cls(module, offset, offset)


@dataclass(frozen=True)
class Entry:
    """The algorithm of one site.

    `frames` are the return addresses, innermost first, of pthread_mutex_init (or the
    function for the kind) or, for an object with a static initialiser, of the first
    lock operation. `address` is the object itself. Exactly one of the two is set.
    """

    site: str  # for messages: "db.c:88 &db->mu"
    lock: str  # a name from `hasp list`
    frames: tuple[AddressRange, ...] = ()
    address: AddressRange | None = None
    kind: str = MUTEX.name

    @classmethod
    def created_at(
        cls,
        site: str,
        lock: str,
        frames: Sequence[tuple[Module, int]],
        kind: str = MUTEX.name,
    ) -> Entry:
        """Return an entry for objects created or first locked through these frames."""
        ranges = tuple(AddressRange.at(*frame) for frame in frames)
        return cls(site, lock, ranges, kind=kind)

    @classmethod
    def of_global(
        cls, site: str, lock: str, module: Module, offset: int, kind: str = MUTEX.name
    ) -> Entry:
        """Return an entry for a global object."""
        return cls(site, lock, address=AddressRange.at(module, offset), kind=kind)

    @property
    def ranges(self) -> tuple[AddressRange, ...]:
        """The frames, or the address of the global."""
        return (self.address,) if self.address else self.frames


@dataclass(frozen=True)
class SitePlan:
    """The entries and the defaults; the first matching entry applies."""

    entries: tuple[Entry, ...]
    default: str  # of mutexes
    name: str = field(default=UNNAMED, compare=False)  # in results: plan:FILE
    # Kind and algorithm, for the kinds that are not to keep glibc's.
    others: tuple[tuple[str, str], ...] = ()

    @property
    def defaults(self) -> tuple[tuple[str, str], ...]:
        """Each kind with a default and its algorithm, mutexes first."""
        return ((MUTEX.name, self.default), *self.others)

    @property
    def used(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of each algorithm that the plan uses, the defaults first."""
        entries = ((entry.kind, entry.lock) for entry in self.entries)
        return tuple(dict.fromkeys([*self.defaults, *entries]))
