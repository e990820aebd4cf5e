# SPDX-License-Identifier: MIT
"""Collects the errors of a file, so that the user sees all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from hasp.base.errors import HaspError

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Problems:
    """Errors found so far."""

    def __init__(self) -> None:
        self._found: list[HaspError] = []

    def tell(
        self,
        check: Callable[Given, Result],
        *arguments: Given.args,
        **options: Given.kwargs,
    ) -> Result | None:
        """Return the result of a check; keep its HaspError and return None."""
        try:
            return check(*arguments, **options)
        except HaspError as problem:
            self._found.append(problem)
            return None

    def raise_all(self) -> None:
        """Raise one HaspError with all errors, if there are any."""
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            lines = [f"  {one.message}: {one.remedy}" for one in self._found]
            raise HaspError(
                f"{len(self._found)} errors in a machine file\n" + "\n".join(lines),
                "correct them all; docs/machines.md describes the file",
            )
