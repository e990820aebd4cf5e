# SPDX-License-Identifier: MIT
"""The subjects of `hasp check`: the locks of `hasp list` and parts of the library."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.locks import native
from hasp.locks.kinds import KINDS, MUTEX, kind_of
from hasp.locks.native import LockInfo, WrongKind
from hasp.locks.selection import ALL, select

ENGINE = "hasp-explore"
ELIDED = "elided"  # the checker's kind of elided mutexes
BORROWED = "borrowed"  # its kind of the lock `delegate`

# Kinds that only the checker lists, with the words for one of its names.
LIBRARY_KINDS = {
    "global": "variant of one lock for all mutexes",
    "executor": "executor",
    "channel": "waiting policy of channels",
    "ring": "waiting policy of rings",
    "shared-barrier": "waiting policy of shared barriers",
    "map": "map",
    "transaction": "transactional memory",
}
KIND_NAMES = (*(kind.name for kind in KINDS), *LIBRARY_KINDS)


@dataclass(frozen=True)
class Subject:
    """An algorithm that the clients of a kind check."""

    kind: str  # in records
    name: str
    clients: str  # the checker's kind, which has the clients


def _of_lock(lock: LockInfo) -> Subject:
    clients = lock.kind
    if lock.is_elided:
        clients = ELIDED if lock.kind == MUTEX.name else f"{ELIDED}-{lock.kind}"
    elif lock.is_delegate:
        clients = BORROWED
    return Subject(lock.kind, lock.name, clients)


def _locks(text: str, kind: str) -> list[Subject]:
    try:
        locks = select(text, kind_of(kind))
    except WrongKind as problem:
        remedy = f"write --kind {problem.kind.name} --locks {problem.name}"
        raise HaspError(problem.message, remedy) from None
    return [_of_lock(lock) for lock in locks if not lock.is_reference]


def listed(*options: str) -> list[dict[str, Any]]:
    """Return the records that the checker prints with options that list something."""
    listing = subprocess.run(
        [native.engine(ENGINE), *options], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in listing.stdout.splitlines()]


def _parts_of_library(text: str, kind: str) -> list[Subject]:
    known = [record["lock"] for record in listed("--kind", kind, "--list")]
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word != ALL and word not in known:
            raise HaspError(
                f"there is no {LIBRARY_KINDS[kind]} {word!r} to check",
                f"{did_you_mean(word, known)}names: {', '.join(known)}",
            )
    return [
        Subject(kind, name, kind) for name in known if name in words or ALL in words
    ]


def choose(kind: str | None, text: str | None) -> list[Subject]:
    """Return the subjects of a kind, by default mutexes, that `text` selects.

    If both are None, return all subjects. Raises HaspError if a word is not known, or
    if nothing is selected that can be checked.
    """
    if kind is None and text is None:
        return [subject for each in KIND_NAMES for subject in choose(each, ALL)]
    kind = kind or MUTEX.name
    parts = _parts_of_library if kind in LIBRARY_KINDS else _locks
    chosen = parts(text or ALL, kind)
    if not chosen:
        raise HaspError(
            f"--locks {text} selects nothing that can be checked",
            "glibc's own locks cannot; `hasp list` shows the others",
        )
    return chosen
