# SPDX-License-Identifier: MIT
"""Reasons not to rewrite a section, each with its place in the source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hasp.base.errors import HaspError


@dataclass(frozen=True, order=True)
class Refusal:
    """A line of the source that cannot be rewritten safely, and why."""

    file: str
    line: int
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f" ({self.remedy})" if self.remedy else ""
        return f"{self.file}:{self.line}: {self.reason}{remedy}"


class Refused(Exception):
    """One refusal, raised where the rest of a section cannot be examined."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def refuse_all(lock: str, refusals: Iterable[Refusal]) -> HaspError:
    """Return the error that lists all refusals in the order of the source."""
    listed = sorted(set(refusals))
    lines = "\n".join(f"  {refusal}" for refusal in listed)
    number = "1 reason" if len(listed) == 1 else f"{len(listed)} reasons"
    return HaspError(
        f"the sections of {lock} are not rewritten, for {number}:\n{lines}",
        "nothing has been changed; change these lines, or delegate another lock",
    )
