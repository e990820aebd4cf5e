# SPDX-License-Identifier: MIT
"""Parses lists of locks: names, aliases, properties, families and `all`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from hasp.base.errors import HaspError
from hasp.locks import native
from hasp.locks.native import LockInfo

ALL = "all"

# Property -> predicate and description.
PROPERTIES: dict[str, tuple[Callable[[LockInfo], bool], str]] = {
    "parks": (lambda lock: lock.parks, "waiters sleep"),
    "spins": (lambda lock: lock.collapses, "waiters only spin"),
    "fifo": (lambda lock: lock.fifo, "strictly first come, first served"),
    "bypasses": (lambda lock: lock.bypasses, "a running thread may overtake waiters"),
    "numa": (lambda lock: lock.numa, "prefers waiters on the holder's node"),
    "light": (lambda lock: lock.light, "needs nothing outside the mutex"),
    "trylock": (lambda lock: lock.trylock_hardened, "trylock is cheap when it fails"),
}


def option_of(name: str) -> str:
    """Return the option of `hasp list` that keeps the locks with a property."""
    return f"--{name}-hardened" if name == "trylock" else f"--{name}"


def select(text: str) -> list[LockInfo]:
    """Return the locks of a comma-separated list, each once, in the list's order.

    A word prefixed with `gcr+` selects the same locks wrapped; these come last. Raises
    HaspError for a word that is not a lock, property or family, and for a list that
    selects nothing.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    wrapped = [word for word in words if word.startswith(native.WRAPPER)]
    plain = _chosen([word for word in words if word not in wrapped])
    inner = _chosen([word.removeprefix(native.WRAPPER) for word in wrapped])
    if len(inner) > 1:
        inner = [lock for lock in inner if not lock.is_reference]
    chosen = plain + [native.wrapper_of(lock) for lock in inner]
    if not chosen:
        raise HaspError(
            f"{text!r} selects no lock",
            "`hasp list` shows the properties of each",
        )
    return chosen


def _chosen(words: list[str]) -> list[LockInfo]:
    """Return the plain locks that match any of the words."""
    chosen: set[str] = set()
    others = [*PROPERTIES, *families(), ALL]
    for word in words:
        chosen |= {lock.name for lock in native.locks() if _matches(lock, word)}
        is_name = any(_is_called(lock, word) for lock in native.locks())
        if word not in others and not is_name:
            raise native.unknown_lock(word, others)
    return [lock for lock in native.locks() if lock.name in chosen]


def _is_called(lock: LockInfo, word: str) -> bool:
    return word == lock.name or word in lock.aliases


def _matches(lock: LockInfo, word: str) -> bool:
    if word == ALL or _is_called(lock, word):
        return True
    if word == family_word(lock.category):
        return True
    return word in PROPERTIES and PROPERTIES[word][0](lock)


def family_word(category: str) -> str:
    """Return a family's name as options accept it: `direct-handoff`."""
    return category.replace(" ", "-")


def families() -> list[str]:
    """Return the families as options accept them, in the order of the lock list."""
    found = (family_word(lock.category) for lock in native.locks())
    return list(dict.fromkeys(found))


def add_locks_option(parser: argparse.ArgumentParser, default: str = ALL) -> None:
    """Add `--locks`, for commands that run several locks."""
    parser.add_argument(
        "--locks",
        metavar="LIST",
        default=default,
        help="names, aliases, properties or families, separated by commas, or `all`, "
        "each optionally prefixed with `gcr+`; "
        f"properties: {', '.join(PROPERTIES)}; families such as direct-handoff "
        f"(default: {default})",
    )
