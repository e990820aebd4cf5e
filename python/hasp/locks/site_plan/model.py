# SPDX-License-Identifier: MIT
"""A plan: which lock the mutexes of each site get, and how to recognise a site.

A site is the place that makes a mutex, or that takes it first where none was seen
making it. It is known by the return addresses of that call, or, for a global, by its
own address; both as addresses in a module's file, so that they hold wherever it is
loaded. The build-id says whether the file is still the one that was profiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MUTEX = "mutex"  # the only kind of lock that a plan can exchange
MOST_FRAMES = 4  # return addresses that tell sites apart, as with the recorder
MOST_ENTRIES = 256  # what libhasp.so has room for
MOST_MODULES = 64


@dataclass(frozen=True)
class Module:
    """A program or library file."""

    name: str  # without folders
    build_id: str = ""  # hexadecimal; "": any file of that name


@dataclass(frozen=True)
class Place:
    """A range of addresses in a module's file, both ends included.

    One address as a rule; more where only the line of the source is known.
    """

    module: Module
    first: int
    last: int

    @classmethod
    def at(cls, module: Module, offset: int) -> Place:
        """One address."""
        return cls(module, offset, offset)


@dataclass(frozen=True)
class Entry:
    """The lock of one site.

    `frames` are the return addresses, the innermost first, of pthread_mutex_init or,
    for mutexes that are initialised in place, of the first lock operation; `address` is
    the mutex itself. One of the two is empty.
    """

    site: str  # for people: "db.c:88 &db->mu"
    lock: str  # a name of `hasp list`
    frames: tuple[Place, ...] = ()
    address: Place | None = None

    @classmethod
    def made_at(
        cls, site: str, lock: str, frames: Sequence[tuple[Module, int]]
    ) -> Entry:
        """For mutexes that are known by where they are made or first taken."""
        return cls(site, lock, tuple(Place.at(*frame) for frame in frames))

    @classmethod
    def lying_at(cls, site: str, lock: str, module: Module, offset: int) -> Entry:
        """For a global mutex."""
        return cls(site, lock, address=Place.at(module, offset))

    @property
    def places(self) -> tuple[Place, ...]:
        """The frames, or the address."""
        return (self.address,) if self.address else self.frames


@dataclass(frozen=True)
class Plan:
    """The entries, the first match counts, and the lock of all other mutexes."""

    entries: tuple[Entry, ...]
    default: str
