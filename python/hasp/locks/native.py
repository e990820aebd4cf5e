# SPDX-License-Identifier: MIT
"""Finds Hasp's native programs and libraries, and reads the list of lock algorithms.

The native files are installed in `hasp/_native/`. HASP_NATIVE_DIR names another folder
to search, for example a Meson build folder.
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
from hasp.base.suggestion import did_you_mean

REFERENCE = "glibc"  # the lock that all others are compared with
WRAPPER = "gcr+"  # prefix of a lock's name: the same lock with concurrency restriction


@dataclass(frozen=True)
class LockInfo:
    """The properties of one lock algorithm, as printed by `hasp-locks`."""

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
    bypass_each: bool  # the bound applies to each other thread separately
    bytes: int
    waiter_bytes: int
    outside_bytes: int  # from the first contention until the mutex is destroyed
    node_bytes: int  # the same, per NUMA node
    summary: str
    source: str
    caution: str
    aliases: tuple[str, ...]

    @property
    def is_reference(self) -> bool:
        """Return true if this is glibc's own mutex, with nothing preloaded."""
        return self.name == REFERENCE

    @property
    def is_wrapped(self) -> bool:
        """Return true if this is another lock wrapped for concurrency restriction."""
        return self.name.startswith(WRAPPER)

    @property
    def collapses(self) -> bool:
        """True if throughput may collapse with more runnable threads than CPUs."""
        return not (self.parks or self.is_reference or self.is_wrapped)


def _folder() -> Path:
    override = os.environ.get("HASP_NATIVE_DIR")
    if override:
        return Path(override).resolve()
    # The package is never zipped, because its library must be a file to be preloaded.
    # This is therefore equivalent to importlib.resources but saves 15 ms of imports.
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
        f"the installation is incomplete: {name} is not in {folder}",
        "install Hasp again (`pip install .` builds it), or set HASP_NATIVE_DIR to the "
        "build folder",
    )


@cache
def program(name: str) -> Path:
    """Return the path of a native program, for example `hasp-locks`."""
    return _find(name)


@cache
def engine(name: str) -> str:
    """Return the path of a program that sanitizer builds do not contain."""
    try:
        return str(program(name))
    except HaspError:
        raise HaspError(
            f"{name} is missing: builds with a sanitizer do not contain it",
            "build Hasp without -Db_sanitize, or set HASP_NATIVE_DIR to such a build",
        ) from None


@cache
def library() -> Path:
    """Return the path of the interposer, libhasp.so."""
    return _find("libhasp.so")


@cache
def profiler() -> Path:
    """Return the path of the recorder, libhasp-profile.so."""
    return _find("libhasp-profile.so")


def _lock_of(record: dict[str, Any]) -> LockInfo:
    known = {field.name: record[field.name] for field in fields(LockInfo)}
    known["aliases"] = tuple(known["aliases"])
    return LockInfo(**known)


@cache
def locks() -> tuple[LockInfo, ...]:
    """Return all locks in the order of the list; the reference `glibc` is the first."""
    return _listed()


@cache
def wrapped_locks() -> tuple[LockInfo, ...]:
    """Return all locks except the reference, wrapped: `gcr+mcs` and so on."""
    return _listed("--wrapped")


def _listed(*options: str) -> tuple[LockInfo, ...]:
    path = program("hasp-locks")
    listing = capture([str(path), *options], os.environ, timeout=10)
    if listing is None or listing.status != 0:
        raise HaspError(
            f"cannot read the list of locks: {path} does not run",
            "install Hasp again for this machine (`pip install .`)",
        )
    try:
        return tuple(_lock_of(json.loads(line)) for line in listing.stdout.splitlines())
    except (ValueError, KeyError, TypeError) as problem:
        raise HaspError(
            f"cannot parse the list of locks that {path} prints ({problem})",
            "it belongs to another version of Hasp: install Hasp again",
        ) from None


def lock(name: str) -> LockInfo:
    """Return the lock with this name or alias; a HaspError suggests similar names."""
    if name.startswith(WRAPPER):
        plain = lock(name.removeprefix(WRAPPER))
        return wrapper_of(plain)
    for candidate in locks():
        if name == candidate.name or name in candidate.aliases:
            return candidate
    raise unknown_lock(name, ())


def wrapper_of(plain: LockInfo) -> LockInfo:
    """Return the lock wrapped for concurrency restriction."""
    for candidate in wrapped_locks():
        if candidate.name == WRAPPER + plain.name:
            return candidate
    raise HaspError(
        f"{plain.name} cannot be wrapped: {WRAPPER}{plain.name} does not exist",
        f"`{WRAPPER}NAME` accepts every lock except `{REFERENCE}`",
    )


def default_lock() -> LockInfo:
    """Return the lock that `hasp run` uses by default."""
    return next(candidate for candidate in locks() if candidate.default)


def unknown_lock(name: str, other_words: Iterable[str]) -> HaspError:
    """Return the error for an unknown lock, which suggests similar names."""
    words = {lock.name: lock.name for lock in locks()}
    words |= {alias: alias for lock in locks() for alias in lock.aliases}
    words |= {word: word for word in other_words}
    offer = did_you_mean(name.lower(), words)
    return HaspError(
        f"there is no lock called {name!r}", f"{offer}`hasp list` shows every lock"
    )
