# SPDX-License-Identifier: MIT
"""The effects of the functions that a section calls, directly or indirectly."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.delegate.syntax import REFERENCES, Node, Unit
from hasp.delegate.thread_bound import problem_of
from hasp.delegate.wrappers import MOST_STATEMENTS, body_of, only_calls

OTHER_LOCKS = {
    "pthread_mutex_lock": 1,
    "pthread_mutex_trylock": 1,
    "pthread_mutex_unlock": -1,
    "pthread_spin_lock": 1,
    "pthread_spin_unlock": -1,
    "pthread_rwlock_rdlock": 1,
    "pthread_rwlock_wrlock": 1,
    "pthread_rwlock_unlock": -1,
}


class Reach:
    """The functions of the program: what each one calls, and what forbids a section."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._calls: dict[str, list[tuple[str, str]]] = {}
        self._problems: dict[str, str] = {}
        self._examined: set[tuple[str, tuple[str, ...]]] = set()
        self._answers: dict[str, str] = {}
        self._locking: dict[str, tuple[str, int]] = {}
        self.cancels: list[Node] = []
        for unit in units:
            for source in unit.sources.values():
                for function in source.functions:
                    self._add(function)

    def _add(self, function: Node) -> None:
        usr = function.cursor.get_usr()
        known = (usr, tuple(function.source.unit.command.options))
        if known in self._examined:
            return
        self._examined.add(known)
        calls = self._calls.setdefault(usr, [])
        self._add_locking(usr, function)
        for node in function.walk():
            problem = problem_of(node, in_section=False)
            if problem:
                self._problems.setdefault(
                    usr, f"{problem} in {node.source.name}:{node.line}"
                )
            elif node.kind == "CALL_EXPR" and node.usr:
                calls.append((node.usr, node.name))
                if node.name == "pthread_cancel":
                    self.cancels.append(node)

    def _add_locking(self, usr: str, function: Node) -> None:
        statements = body_of(function)
        if not 0 < len(statements) <= MOST_STATEMENTS:
            return
        calls = [
            node
            for each in statements
            for node in each.walk()
            if node.kind == "CALL_EXPR" and node.name in OTHER_LOCKS
        ]
        if len(calls) == 1 and only_calls(function, calls[0]):
            names = [
                node.name
                for node in calls[0].children[1].walk()
                if node.kind in REFERENCES and node.referenced.kind.name != "PARM_DECL"
            ]
            self._locking[usr] = ("".join(names[:1]), OTHER_LOCKS[calls[0].name])

    def locking(self, call: Node) -> tuple[str, int]:
        """Return a name for the lock that a call acquires or releases, and 1 or -1.

        The function must do nothing else; return 0 instead of the number if it does.
        """
        name, change = self._locking.get(call.usr, ("", 0))
        if not change:
            return "", 0
        words = [w.spelling for w in call.cursor.get_tokens()]
        return f"{name}{''.join(words[1:])}", change

    def problem(self, usr: str) -> str:
        """Return what a function does that forbids it in a section; "" for nothing."""
        if usr not in self._answers:
            self._answers[usr] = self._search(usr)
        return self._answers[usr]

    def _search(self, usr: str) -> str:
        seen, todo = {usr}, [(usr, "")]
        while todo:
            current, path = todo.pop(0)
            if current in self._problems:
                return f"{path}{self._problems[current]}"
            for called, name in self._calls.get(current, ()):
                if called not in seen:
                    seen.add(called)
                    todo.append((called, f"{path}calls {name}(), which "))
        return ""
