# SPDX-License-Identifier: MIT
"""Parses lists of locks: names, aliases, properties, families and `all`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import cast

from hasp.base.errors import HaspError
from hasp.locks import native
from hasp.locks.given import label
from hasp.locks.kinds import KINDS, MUTEX, Kind
from hasp.locks.native import LockInfo

ALL = "all"
PREFIX = re.compile(r"(?:\w[\w-]*[+:])+")  # of the name of a wrapped algorithm

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


def select(text: str, kind: Kind = MUTEX) -> list[LockInfo]:
    """Return the algorithms in a comma-separated list, each once, in the list's order.

    A prefix selects the same algorithms wrapped: `gcr+` and `elide+` for mutexes,
    others for other kinds, such as `bravo+`; these come last. Only its name selects
    `delegate`. Raises HaspError for a word that is not an algorithm of the kind, a
    property or a family, and for a list that selects nothing.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    plain = [word for word in words if not _is_composed(word, kind)]
    composed = [word for word in words if word not in plain]
    chosen = [*_chosen(plain, kind), *_composed(composed, kind)]
    if ALL in plain:  # a kind's default may be a wrapped algorithm
        chosen = list(dict.fromkeys([*chosen, native.default_lock(kind)]))
    if not chosen:
        option = "" if kind is MUTEX else f" --kind {kind.name}"
        raise HaspError(
            f"{text!r} selects no {'lock' if kind is MUTEX else kind.noun}",
            f"`hasp list{option}` shows the properties of each",
        )
    return chosen


def _is_composed(word: str, kind: Kind) -> bool:
    if kind is MUTEX:
        return word.startswith(native.WRAPPERS) or word == native.DELEGATE
    return bool(PREFIX.match(word)) and not _named(word, native.locks(kind))


def _named(word: str, locks: Sequence[LockInfo]) -> LockInfo | None:
    return next((lock for lock in locks if _is_called(lock, word)), None)


def _composed(words: list[str], kind: Kind) -> list[LockInfo]:
    """Return the wrapped algorithms: each named, or all whose inner one matches."""
    if kind is MUTEX:
        split = [native.split_wrapper(word) for word in words]
        delegates = [native.lock(native.DELEGATE)] if native.DELEGATE in words else []
        return delegates + [
            lock
            for prefix in native.WRAPPERS
            for lock in _wrapped_mutexes(prefix, [b for a, b in split if a == prefix])
        ]
    found: dict[str, LockInfo] = {}
    for word in words:
        exact = _named(word, native.composed_locks(kind))
        for lock in [exact] if exact else _wrapped_by(word, kind):
            found[lock.name] = lock
    return list(found.values())


def _wrapped_mutexes(prefix: str, words: list[str]) -> list[LockInfo]:
    inner = _chosen(words, MUTEX)
    if len(inner) > 1:
        inner = [lock for lock in inner if not lock.is_reference]
    return [native.wrapper_of(lock, prefix) for lock in inner]


def _wrapped_by(word: str, kind: Kind) -> list[LockInfo]:
    """Return the algorithms of `bravo+fifo` or `mutex:parks`."""
    prefix = cast("re.Match[str]", PREFIX.match(word)).group()
    rest = word.removeprefix(prefix)
    of = MUTEX if prefix.endswith(f"{MUTEX.name}:") else kind
    if rest not in [*PROPERTIES, *families(of), ALL]:
        raise native.unknown_lock(word, (), kind)
    names = {prefix + lock.name for lock in _chosen([rest], of)}
    return [lock for lock in native.composed_locks(kind) if lock.name in names]


def _chosen(words: list[str], kind: Kind) -> list[LockInfo]:
    """Return the plain algorithms that match any of the words."""
    chosen: set[str] = set()
    others = [*PROPERTIES, *families(kind), ALL]
    for word in words:
        chosen |= {lock.name for lock in native.locks(kind) if _matches(lock, word)}
        if word not in others and not _named(word, native.locks(kind)):
            raise native.unknown_lock(word, others, kind)
    return [lock for lock in native.locks(kind) if lock.name in chosen]


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


def families(kind: Kind = MUTEX) -> list[str]:
    """Return the families as options accept them, in the order of the lock list."""
    found = (family_word(lock.category) for lock in native.locks(kind))
    return list(dict.fromkeys(found))


def add_locks_option(parser: argparse.ArgumentParser, default: str = ALL) -> None:
    """Add `--locks`, for commands that run several locks."""
    parser.add_argument(
        "--locks",
        metavar="LIST",
        default=default,
        help="names, aliases, properties or families, separated by commas, or `all`, "
        "each optionally prefixed with `gcr+` or `elide+`; "
        f"properties: {', '.join(PROPERTIES)}; families such as direct-handoff "
        f"(default: {default})",
    )


def add_kind_options(parser: argparse.ArgumentParser) -> None:
    """Add `--locks`, and a list of algorithms for each other kind."""
    add_locks_option(parser)
    for kind in KINDS:
        if kind is not MUTEX:
            parser.add_argument(
                kind.list_option,
                metavar="LIST",
                help=f"the same for {kind.nouns} (see `hasp list --kind {kind.name}`); "
                "mutexes then keep glibc's algorithm, unless --locks names some",
            )
    parser.set_defaults(locks=None)


def candidates(arguments: argparse.Namespace) -> list[str]:
    """Return the labels that the options of `add_kind_options` select.

    Without any, all algorithms of mutexes. Each candidate replaces objects of one kind.
    """
    lists = {kind: getattr(arguments, kind.list_option[2:]) for kind in KINDS}
    if not any(lists.values()):
        lists[MUTEX] = ALL
    try:
        chosen = [select(text, kind) for kind, text in lists.items() if text]
    except native.WrongKind as problem:
        options = problem.kind.list_option, problem.asked.list_option
        raise HaspError(problem.message, problem.remedy_of(*options)) from None
    return list(dict.fromkeys(label(lock) for locks in chosen for lock in locks))
