# SPDX-License-Identifier: MIT
"""A section of a lock in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hasp.delegate.statements import Statement
from hasp.delegate.syntax import Node, Source


@dataclass(frozen=True)
class Exit:
    """A way out of a section in front of its end: an unlock, and what follows it.

    The text from `start` is executed by the caller, after the section.
    """

    number: int  # from 1
    unlock: Statement
    block: Node
    start: int
    end: int

    @property
    def nodes(self) -> list[Node]:
        """The statements after the unlock, and what remains of the unlock itself."""
        first = self.unlock.start if self.unlock.kept else self.start
        return [node for node in self.block.children if node.start >= first]


@dataclass
class Section:
    """A section: the text between a lock and its unlock."""

    function: Node
    block: Node  # that the lock and the end of the section are in
    lock: Statement
    lock_text: str  # the argument of the lock function
    end_of_text: int
    end: int  # of what the call of the outlined function replaces
    nodes: list[Node]  # the statements of the section, those of its exits included
    exits: list[Exit] = field(default_factory=list)
    ends_open: bool = True  # false: each path leaves by one of the exits
    unlock: Statement | None = None  # at the end, if the section ends with one

    @property
    def source(self) -> Source:
        """The file of the section."""
        return self.lock.node.source

    @property
    def start(self) -> int:
        """Where the text of the section begins."""
        return self.lock.end

    def inside(self, offset: int) -> bool:
        """Return true if an offset is in the section, and not in one of its exits."""
        return self.start <= offset < self.end_of_text and not any(
            each.unlock.start <= offset < each.end for each in self.exits
        )

    def surrounds(self, other: Section) -> bool:
        """Return true if another section is in this one."""
        return (
            self.source.path == other.source.path
            and self.start <= other.lock.start
            and other.start <= self.end
        )

    def walk(self) -> Iterator[Node]:
        """Yield the nodes that are executed as part of the section."""
        for top in self.nodes:
            for node in top.walk():
                if self.inside(node.start):
                    yield node
