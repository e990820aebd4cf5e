# SPDX-License-Identifier: MIT
"""The keys of a program in a campaign, and their lines for error messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from hasp.base.document import Document
from hasp.base.errors import HaspError

Made = TypeVar("Made")


class ProgramTable:
    """The keys of one [[program]], with the defaults; errors name the line."""

    def __init__(
        self,
        document: Document,
        number: int,
        own: dict[str, Any],
        defaults: dict[str, Any],
    ) -> None:
        self._document = document
        self._number = number
        self._own = own
        self._all = {**defaults, **own}
        self.folder = document.path.parent
        self.line = document.line_in_list("program", number)

    def __contains__(self, key: str) -> bool:
        return key in self._all

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key."""
        return self._all.get(key, default)

    @property
    def unit(self) -> str:
        """The unit of its sizes, nodes or threads; its own key has precedence."""
        if "threads" in self._own and "nodes" in self._own:
            self.fail("nodes", "excludes `threads`", "delete one of the two")
        for place in (self._own, self._all):
            for unit in ("nodes", "threads"):
                if unit in place:
                    return unit
        return "threads"

    def fail(self, key: str, message: str, remedy: str) -> NoReturn:
        """Raise an error about a key, present or missing."""
        document = self._document
        line = document.line_in_list("program", self._number, key)
        if key not in self._own and key in self._all:
            line = document.line_of(("defaults", key))
        name = self._all.get("name", f"number {self._number + 1}")
        raise HaspError(
            f"{document.path}:{line}: program {name}: {key}: {message}", remedy
        )

    def convert(self, key: str, make: Callable[[Any], Made], value: Any) -> Made:
        """Convert a value; an error names its key."""
        try:
            return make(value)
        except ValueError as problem:
            self.fail(key, str(problem), "write for example 30s")
        except HaspError as problem:
            self.fail(key, problem.message, problem.remedy)
