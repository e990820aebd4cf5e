# SPDX-License-Identifier: MIT
"""The one place that finds Hasp's native programs and its library, and the lock list.

They are installed in `hasp/_native/`. HASP_NATIVE_DIR names another folder to search,
for example a Meson build folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.process import capture

REFERENCE = "glibc"  # the lock that every other is compared with
PLAN = "plan:"  # before a file's name: a lock for each site (hasp.locks.site_plan)
WRAPPER = "gcr+"  # before a lock's name: the same lock, with few threads waiting in it


@dataclass(frozen=True)
class LockInfo:
    """One lock of the list, as `hasp-locks` describes it."""

    name: str
    index: int
    default: bool
    category: str
    waiting: str
    fifo: bool
    numa: bool
    parks: bool
    light: bool
    trylock_hardened: bool
    bypasses: bool
    bypass_bound: int  # times a queued waiter may be overtaken; -1: no bound
    bypass_each: bool  # the bound counts for each other thread by itself
    bytes: int
    waiter_bytes: int
    outside_bytes: int  # once contended, until destroyed
    node_bytes: int  # the same, for each NUMA node
    summary: str
    source: str
    caution: str
    aliases: tuple[str, ...]

    @property
    def is_reference(self) -> bool:
        """Whether this is the program's own mutex, run without any preload."""
        return self.name == REFERENCE

    @property
    def is_wrapped(self) -> bool:
        """Whether this is another lock, wrapped for concurrency restriction."""
        return self.name.startswith(WRAPPER)

    @property
    def collapses(self) -> bool:
        """Whether it may collapse when more threads are runnable than CPUs."""
        return not (self.parks or self.is_reference or self.is_wrapped)


def _folder() -> Path:
    override = os.environ.get("HASP_NATIVE_DIR")
    if override:
        return Path(override).resolve()
    # The package is never zipped: its library must be a file to be preloaded. So this
    # is importlib.resources' answer without its 15 ms of imports.
    return Path(__file__).resolve().parent.parent / "_native"


def _find(name: str) -> Path:
    folder = _folder()
    direct = folder / name
    if direct.is_file():
        return direct
    if "HASP_NATIVE_DIR" in os.environ:
        for found in sorted(folder.glob(f"src/*/{name}")) or sorted(folder.rglob(name)):
            if found.is_file():
                return found
    raise HaspError(
        f"Hasp's own file {name} is not in {folder}",
        "install Hasp again (`pip install .` builds it), or let HASP_NATIVE_DIR name "
        "the folder it was built in",
    )


@cache
def program(name: str) -> Path:
    """The native program called `name`, for example `hasp-locks`."""
    return _find(name)


@cache
def engine(name: str) -> str:
    """The path of a program that builds with a sanitizer leave out."""
    try:
        return str(program(name))
    except HaspError:
        raise HaspError(
            f"{name} is not here: it is left out of builds with a sanitizer",
            "build Hasp without -Db_sanitize, or name such a build in HASP_NATIVE_DIR",
        ) from None


@cache
def library() -> Path:
    """The interposer, libhasp.so."""
    return _find("libhasp.so")


@cache
def profiler() -> Path:
    """The recorder, libhasp-profile.so."""
    return _find("libhasp-profile.so")


def _lock_of(record: dict[str, Any]) -> LockInfo:
    known = {field.name: record[field.name] for field in fields(LockInfo)}
    known["aliases"] = tuple(known["aliases"])
    return LockInfo(**known)


@cache
def locks() -> tuple[LockInfo, ...]:
    """Every lock, in the order of the list; the reference `glibc` is the first."""
    return _listed()


@cache
def wrapped_locks() -> tuple[LockInfo, ...]:
    """Every lock but the reference, wrapped: `gcr+mcs` and so on."""
    return _listed("--wrapped")


def _listed(*options: str) -> tuple[LockInfo, ...]:
    path = program("hasp-locks")
    listing = capture([str(path), *options], os.environ, timeout=10)
    if listing is None or listing.status != 0:
        raise HaspError(
            f"{path} does not run, so there is no list of locks",
            "install Hasp again for this machine (`pip install .`)",
        )
    try:
        return tuple(_lock_of(json.loads(line)) for line in listing.stdout.splitlines())
    except (ValueError, KeyError, TypeError) as problem:
        raise HaspError(
            f"{path} prints a list of locks that this `hasp` cannot read ({problem})",
            "the two are from different versions: install Hasp again",
        ) from None


def lock(name: str) -> LockInfo:
    """The lock called `name`, or known by that alias; an error offers nearby names."""
    if name.startswith(WRAPPER):
        plain = lock(name.removeprefix(WRAPPER))
        return wrapper_of(plain)
    for candidate in locks():
        if name == candidate.name or name in candidate.aliases:
            return candidate
    raise unknown_lock(name, ())


def wrapper_of(plain: LockInfo) -> LockInfo:
    """The lock, wrapped."""
    for candidate in wrapped_locks():
        if candidate.name == WRAPPER + plain.name:
            return candidate
    raise HaspError(
        f"{WRAPPER}{plain.name} does not exist: {plain.name} cannot be wrapped",
        f"`{WRAPPER}NAME` takes every lock but `{REFERENCE}`",
    )


def default_lock() -> LockInfo:
    """The lock that is used when none is named."""
    return next(candidate for candidate in locks() if candidate.default)


def unknown_lock(name: str, other_words: Iterable[str]) -> HaspError:
    """The error for a name that is no lock, offering the nearest ones."""
    import difflib

    words = {lock.name: lock.name for lock in locks()}
    words |= {alias: alias for lock in locks() for alias in lock.aliases}
    words |= {word: word for word in other_words}
    near = difflib.get_close_matches(name.lower(), list(words), n=3, cutoff=0.5)
    offer = f"did you mean {' or '.join(near)}? " if near else ""
    return HaspError(
        f"there is no lock called {name!r}", f"{offer}`hasp list` shows every lock"
    )
