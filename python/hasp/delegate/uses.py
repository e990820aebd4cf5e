# SPDX-License-Identifier: MIT
"""Every use of the lock in the program, by what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hasp.delegate.lock import DECLARATIONS, REFERENCES, Lock
from hasp.delegate.refusal import Refusal
from hasp.delegate.syntax import Node, Unit

LOCK, UNLOCK = "pthread_mutex_lock", "pthread_mutex_unlock"
INIT, DESTROY = "pthread_mutex_init", "pthread_mutex_destroy"
SIZE = "CXX_UNARY_EXPR"  # sizeof, also in C
REASONS = {
    "pthread_mutex_trylock": "tries the lock, which a section that is executed "
    "elsewhere cannot do",
    "pthread_mutex_timedlock": "waits for the lock with a time limit, which executors "
    "do not have",
    "pthread_mutex_clocklock": "waits for the lock with a time limit, which executors "
    "do not have",
    "pthread_cond_wait": "waits on a condition variable inside a section, which "
    "executors cannot do",
    "pthread_cond_timedwait": "waits on a condition variable inside a section, which "
    "executors cannot do",
    "pthread_cond_clockwait": "waits on a condition variable inside a section, which "
    "executors cannot do",
}


@dataclass
class Uses:
    """The uses of a lock; each stands once, also if several files include it."""

    declarations: list[Node] = field(default_factory=list)
    calls: dict[str, list[Node]] = field(default_factory=dict)  # by function
    refusals: set[Refusal] = field(default_factory=set)
    mentions: dict[Path, set[int]] = field(default_factory=dict)  # offsets of its name

    def of(self, function: str) -> list[Node]:
        """Return the calls of a function of pthreads with the lock."""
        return self.calls.get(function, [])


def uses_of(lock: Lock, units: Sequence[Unit]) -> Uses:
    """Return the uses of a lock in all units."""
    result = Uses()
    seen: set[tuple[Path, int, str, int]] = set()
    for unit in units:
        # A macro may name the lock several times at the same place.
        repeated: Counter[tuple[Path, int, str]] = Counter()
        for source in unit.sources.values():
            for declaration in source.declarations:
                for node in _naming(lock, declaration):
                    where = (source.path, node.offset, node.kind)
                    repeated[where] += 1
                    if (*where, repeated[where]) not in seen:
                        seen.add((*where, repeated[where]))
                        result.mentions.setdefault(source.path, set()).add(node.offset)
                        _classify(node, unit, result)
    return result


def _naming(lock: Lock, top: Node) -> Iterator[Node]:
    for node in top.walk():
        if node.kind in DECLARATIONS and node.name == lock.name:
            if node.cursor.get_usr() == lock.usr:
                yield node
        elif (
            node.kind in REFERENCES and node.name == lock.name and node.usr == lock.usr
        ):
            yield node


def _classify(node: Node, unit: Unit, result: Uses) -> None:
    if not unit.is_c:
        result.refusals.add(node.refusal("C++ is not rewritten, only C"))
    if node.kind in DECLARATIONS:
        result.declarations.append(node)
        return
    call, position = use_of(node)
    if call is None:
        result.refusals.add(
            node.refusal(
                f"{node.name} is used other than as the argument of a function of "
                "pthreads: the sections that it leads to cannot be seen"
            )
        )
    elif call.kind == SIZE:
        return
    elif call.name in (LOCK, UNLOCK, INIT, DESTROY) and position == 0:
        if call not in result.calls.setdefault(call.name, []):
            result.calls[call.name].append(call)
    else:
        result.refusals.add(call.refusal(_reason(call, node.name)))


def _reason(call: Node, name: str) -> str:
    if call.name in REASONS:
        return REASONS[call.name]
    return (
        f"passes {name} to {call.name or 'a function'}(): the sections that this leads "
        "to cannot be seen"
    )


def use_of(node: Node) -> tuple[Node | None, int]:
    """Return the call or sizeof that a reference is an operand of, and its position."""
    while parent := node.parent:
        if parent.kind == "CALL_EXPR":
            return parent, parent.children.index(node) - 1
        if parent.kind == SIZE:
            return parent, 0
        if parent.kind not in (
            *("UNEXPOSED_EXPR", "PAREN_EXPR", "UNARY_OPERATOR", "CSTYLE_CAST_EXPR"),
            *("ARRAY_SUBSCRIPT_EXPR", "BINARY_OPERATOR"),
        ):
            return None, 0
        if parent.kind == "BINARY_OPERATOR" and "*" not in parent.cursor.type.spelling:
            return None, 0
        if parent.kind == "ARRAY_SUBSCRIPT_EXPR" and parent.children[0] is not node:
            return None, 0
        node = parent
    return None, 0
