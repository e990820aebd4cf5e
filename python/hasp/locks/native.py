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
from hasp.locks.kinds import KINDS, MUTEX, RWLOCK, Kind

REFERENCE = "glibc"  # the lock that all others are compared with
WRAPPER = "gcr+"  # prefix of a mutex's: the same lock with concurrency restriction
ELISION = "elide+"  # the same lock, elided where the machine has transactions
WRAPPERS = (WRAPPER, ELISION)
DELEGATE = "delegate"  # runs sections of other threads; only where it is named


@dataclass(frozen=True)
class LockInfo:
    """The properties of one algorithm, as printed by `hasp-locks`."""

    kind: str  # the name of one of LISTED_KINDS
    name: str
    index: int  # in the list of its kind
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
        """Return true if this is glibc's own algorithm, with nothing preloaded."""
        return self.name == REFERENCE

    @property
    def is_wrapped(self) -> bool:
        """Return true if this is another lock wrapped for concurrency restriction."""
        return self.name.startswith(WRAPPER)

    @property
    def is_elided(self) -> bool:
        """Return true if this is another lock that is elided by transactions."""
        return self.name.startswith(ELISION)

    @property
    def is_delegate(self) -> bool:
        """Return true if the releasing thread runs the sections of waiters."""
        return self.kind == MUTEX.name and self.name == DELEGATE

    @property
    def collapses(self) -> bool:
        """True if throughput may collapse with more runnable threads than CPUs."""
        return not (self.parks or self.is_reference or self.is_wrapped)


class WrongKind(HaspError):
    """An algorithm was named for objects of another kind."""

    def __init__(self, lock: LockInfo, kind: Kind, asked: Kind) -> None:
        super().__init__(
            f"{lock.name} is a {kind.noun} algorithm, not one for {asked.nouns}",
            "",
        )
        self.kind = kind
        self.asked = asked
        self.name = lock.name
        self.remedy = self.remedy_of(kind.option, asked.option)

    def remedy_of(self, option: str, asked_option: str) -> str:
        """Return the remedy: the option of its kind, or a rwlock made of a mutex."""
        if self.kind is not MUTEX or self.asked is not RWLOCK:
            return f"write {option} {self.name}"
        return (
            f"write {option} {self.name}, or {asked_option} mutex:{self.name} for "
            "rwlocks made of it"
        )


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
def file(name: str) -> Path:
    """Return the path of another native file, for example `library.json`."""
    return _find(name)


@cache
def library() -> Path:
    """Return the path of the interposer, libhasp.so."""
    return _find("libhasp.so")


@cache
def delegating_library() -> Path:
    """Return the path of the interposer that borrows sections (x86-64 only)."""
    return _find("libhasp-delegate.so")


@cache
def delegation_obstacle() -> str | None:
    """Return why this host cannot run sections of other threads, or None."""
    printed = capture([str(program("hasp-locks")), "--borrowing"], os.environ, 10)
    if printed is None or printed.status != 0:
        return "hasp-locks does not run: install Hasp again for this machine"
    text: str = json.loads(printed.stdout)["obstacle"]
    return text or None


@cache
def profiler() -> Path:
    """Return the path of the recorder, libhasp-profile.so."""
    return _find("libhasp-profile.so")


def _lock_of(record: dict[str, Any]) -> LockInfo:
    known = {field.name: record[field.name] for field in fields(LockInfo)}
    known["aliases"] = tuple(known["aliases"])
    return LockInfo(**known)


def locks(kind: Kind = MUTEX) -> tuple[LockInfo, ...]:
    """Return the algorithms of a kind in list order; the reference comes first."""
    return tuple(lock for lock in _listed() if lock.kind == kind.name)


def composed_locks(kind: Kind = MUTEX) -> tuple[LockInfo, ...]:
    """Return all algorithms made of another one: `gcr+mcs`, `bravo+rw-ttas` etc."""
    return tuple(lock for lock in _listed("--wrapped") if lock.kind == kind.name)


@cache
def _listed(*options: str) -> tuple[LockInfo, ...]:
    path = program("hasp-locks")
    listing = capture([str(path), *options], os.environ, timeout=10)
    if listing is None or listing.status != 0:
        raise HaspError(
            f"cannot read the list of locks: {path} does not run",
            "install Hasp again for this machine (`pip install .`)",
        )
    try:
        records = [json.loads(line) for line in listing.stdout.splitlines()]
        return tuple(map(_lock_of, records))
    except (ValueError, KeyError, TypeError) as problem:
        raise HaspError(
            f"cannot parse the list of locks that {path} prints ({problem})",
            "it belongs to another version of Hasp: install Hasp again",
        ) from None


def lock(name: str, kind: Kind = MUTEX) -> LockInfo:
    """Return the algorithm of a kind with this name or alias.

    Raises HaspError for an unknown name, with similar ones, and for an algorithm of
    another kind, with the option that accepts it.
    """
    found = _find_lock(name, kind)
    if found is None:
        raise unknown_lock(name, (), kind)
    return found


def _find_lock(name: str, kind: Kind) -> LockInfo | None:
    for candidate in locks(kind):
        if name == candidate.name or name in candidate.aliases:
            return candidate
    if kind is MUTEX and name == DELEGATE:
        return next(lock for lock in composed_locks() if lock.is_delegate)
    if kind is MUTEX and name.startswith(WRAPPERS):
        prefix, rest = split_wrapper(name)
        plain = _find_lock(rest, kind)
        return plain and wrapper_of(plain, prefix)
    if kind is not MUTEX and _is_composed(name):
        return next((lock for lock in composed_locks(kind) if lock.name == name), None)
    return None


def _is_composed(name: str) -> bool:
    return "+" in name or ":" in name


def split_wrapper(name: str) -> tuple[str, str]:
    """Return the prefix of a wrapped mutex algorithm, or "", and the rest."""
    prefix = next((one for one in WRAPPERS if name.startswith(one)), "")
    return prefix, name.removeprefix(prefix)


def wrapper_of(plain: LockInfo, prefix: str = WRAPPER) -> LockInfo:
    """Return the mutex algorithm wrapped as the prefix says."""
    for candidate in composed_locks():
        if candidate.name == prefix + plain.name:
            return candidate
    if plain.name.startswith(WRAPPERS):
        raise HaspError(
            f"a wrapped lock cannot be wrapped again: {prefix}{plain.name}",
            f"write {prefix}{split_wrapper(plain.name)[1]}",
        )
    raise HaspError(
        f"{plain.name} cannot be wrapped: {prefix}{plain.name} does not exist",
        f"`{prefix}NAME` accepts every lock except `{REFERENCE}` and `{DELEGATE}`",
    )


def default_lock(kind: Kind = MUTEX) -> LockInfo:
    """Return the algorithm that `hasp run` uses by default for a kind."""
    default = next((lock for lock in locks(kind) if lock.default), None)
    return default or next(lock for lock in composed_locks(kind) if lock.default)


def _not_elided(name: str, kind: Kind) -> HaspError:
    """Return the error for an algorithm that transactions cannot elide, or unknown."""
    elided = [lock.name for lock in composed_locks(kind) if lock.is_elided]
    names = " and ".join(one.removeprefix(ELISION) for one in elided)
    if not elided:
        return HaspError(
            f"{name}: {kind.nouns} are never elided",
            "transactions elide mutexes (--lock elide+NAME) and some rwlocks",
        )
    return HaspError(
        f"there is no {kind.noun} algorithm called {name!r}: only {names} can be "
        "elided, of which one word shows who may enter",
        f"{did_you_mean(name.lower(), elided)}write {kind.option} {elided[-1]}",
    )


def unknown_lock(
    name: str, other_words: Iterable[str], kind: Kind = MUTEX
) -> HaspError:
    """Return the error for a name that the list of a kind does not have."""
    plain = {lock.name for lock in locks(kind)}
    if kind is not MUTEX and name.removeprefix(ELISION) in plain:
        return _not_elided(name, kind)
    for other in KINDS:
        found = _find_lock(name, other) if other is not kind else None
        if found:
            return WrongKind(found, other, kind)
    if kind is not MUTEX and name.startswith(ELISION):
        return _not_elided(name, kind)
    words = [word for lock in locks(kind) for word in (lock.name, *lock.aliases)]
    if kind is MUTEX:
        name = split_wrapper(name)[1]
    elif _is_composed(name):
        words += [lock.name for lock in composed_locks(kind)]
    offer = did_you_mean(name.lower(), dict.fromkeys([*words, *other_words]))
    if kind is MUTEX:
        return HaspError(
            f"there is no lock called {name!r}", f"{offer}`hasp list` shows every lock"
        )
    return HaspError(
        f"there is no {kind.noun} algorithm called {name!r}",
        f"{offer}`hasp list --kind {kind.name}` shows all of them",
    )
