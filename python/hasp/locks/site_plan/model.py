# SPDX-License-Identifier: MIT
"""A plan: the lock algorithm for the mutexes of each site, and how to recognise a site.

A site is the source line that creates a mutex or, if the mutex is not initialised by a
call, the one that locks it first. It is identified by the return addresses of that
call, or for a global mutex by its address. Both are relative to a module's file, so
they are valid wherever it is loaded. The build-id identifies the build that was
profiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

PREFIX = "plan:"  # of a file name, where a lock's name may stand
MUTEX = "mutex"  # the only kind of lock that a plan can replace
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
    """The lock of one site.

    `frames` are the return addresses, innermost first, of pthread_mutex_init or, for a
    mutex with a static initialiser, of the first lock operation. `address` is the mutex
    itself. Exactly one of the two is set.
    """

    site: str  # for messages: "db.c:88 &db->mu"
    lock: str  # a name from `hasp list`
    frames: tuple[AddressRange, ...] = ()
    address: AddressRange | None = None

    @classmethod
    def created_at(
        cls, site: str, lock: str, frames: Sequence[tuple[Module, int]]
    ) -> Entry:
        """Return an entry for mutexes created or first locked through these frames."""
        return cls(site, lock, tuple(AddressRange.at(*frame) for frame in frames))

    @classmethod
    def of_global(cls, site: str, lock: str, module: Module, offset: int) -> Entry:
        """Return an entry for a global mutex."""
        return cls(site, lock, address=AddressRange.at(module, offset))

    @property
    def ranges(self) -> tuple[AddressRange, ...]:
        """The frames, or the address of the global."""
        return (self.address,) if self.address else self.frames


@dataclass(frozen=True)
class SitePlan:
    """The entries and the default lock; the first matching entry applies."""

    entries: tuple[Entry, ...]
    default: str
    name: str = field(default="plan", compare=False)  # in results: plan:FILE

    @property
    def locks(self) -> tuple[str, ...]:
        """The names of all locks that the plan uses, the default first."""
        return tuple(dict.fromkeys([self.default, *(e.lock for e in self.entries)]))


def is_plan(name: str) -> bool:
    """Return true if a name in results is that of a plan, not of a lock."""
    return name == SitePlan.name or name.startswith(PREFIX)
