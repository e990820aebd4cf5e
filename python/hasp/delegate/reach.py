# SPDX-License-Identifier: MIT
"""What the functions do that a section calls, directly or through others."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.delegate.syntax import Node, Unit
from hasp.delegate.thread_bound import problem_of


class Reach:
    """The functions of the program: what each one calls, and what forbids a section."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._calls: dict[str, list[tuple[str, str]]] = {}
        self._problems: dict[str, str] = {}
        self._examined: set[tuple[str, tuple[str, ...]]] = set()
        self._answers: dict[str, str] = {}
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
