# SPDX-License-Identifier: MIT
"""The sections of a lock in the source: where they begin, and each way out."""

from __future__ import annotations

from collections.abc import Iterable

from hasp.delegate.jumps import check_jumps, ends_in_jump
from hasp.delegate.refusal import Refusal, Refused
from hasp.delegate.section import Exit, Section
from hasp.delegate.statements import Statement, labelled, statement_of
from hasp.delegate.syntax import Node
from hasp.delegate.uses import Uses
from hasp.delegate.wrappers import LOCK, UNLOCK


def sections_of(uses: Uses) -> tuple[list[Section], list[Refusal]]:
    """Return the sections of a lock, and why others cannot be rewritten."""
    found, refusals, ended = [], [], set()
    unlocks = {id(call): call for call in uses.of(UNLOCK)}
    for call in uses.of(LOCK):
        try:
            section = _section(call, set(unlocks), uses)
        except Refused as refused:
            refusals.append(refused.refusal)
            # What follows from the refusal of the lock is not said again.
            function = call.within(("FUNCTION_DECL",))
            ended |= {
                each
                for each, node in unlocks.items()
                if node.within(("FUNCTION_DECL",)) is function
            }
            continue
        found.append(section)
        ended |= {id(each.unlock.call) for each in section.exits}
        if section.end > section.end_of_text:
            ended |= _unlocks_between(section, unlocks.values())
    locking = {call.within(("FUNCTION_DECL",)) for call in uses.of(LOCK)}
    for number, call in unlocks.items():
        if number not in ended:
            function = call.within(("FUNCTION_DECL",))
            refusals.append(_unpaired(call, function, function in locking))
    return found, refusals


def _unpaired(call: Node, function: Node | None, locks: bool) -> Refusal:
    """Return the refusal of an unlock whose lock is not in front of it."""
    if function and not locks:
        return call.refusal(
            f"{function.name}() releases its callers' lock, and does more",
            f"leave only the unlock in {function.name}(), and let its callers do the "
            "rest before they call it",
        )
    return call.refusal(
        "the lock is released here, but not acquired in the same block before",
        "put the lock and the unlock into the same block of one function",
    )


def _unlocks_between(section: Section, unlocks: Iterable[Node]) -> set[int]:
    return {
        id(call)
        for call in unlocks
        if call.source is section.source
        and section.end_of_text <= call.start < section.end
    }


def _section(call: Node, unlocks: set[int], uses: Uses) -> Section:
    lock = statement_of(call, "lock")
    block = lock.block
    function = call.within(("FUNCTION_DECL",))
    if function is None:
        raise call.refuse("the lock is taken outside of a function")
    name = uses.key(call)
    locks = {id(each) for each in uses.of(LOCK)} - {id(call)}
    following = block.children[block.children.index(lock.outer) + 1 :]
    builder = _Builder(name, unlocks, locks, lock, uses)
    for node in following:
        if builder.add(node):
            break
    else:
        raise builder.not_released()
    section = Section(
        function,
        block,
        lock,
        uses.text(call),
        builder.end_of_text,
        builder.end,
        builder.nodes,
        builder.exits,
        builder.ends_open,
        builder.unlock,
    )
    if not lock.end <= section.end_of_text <= section.end:
        raise call.refuse("the section is in the argument of a macro")
    check_jumps(section)
    return section


class _Builder:
    """Reads the statements after a lock until the section has ended on each path."""

    def __init__(
        self,
        name: str,
        unlocks: set[int],
        locks: set[int],
        lock: Statement,
        uses: Uses,
    ) -> None:
        self.uses = uses
        self.name = name
        self.unlocks = unlocks
        self.locks = locks
        self.lock = lock
        self.nodes: list[Node] = []
        self.exits: list[Exit] = []
        self.end_of_text = self.end = -1
        self.ends_open = True
        self.unlock: Statement | None = None
        self.inner: set[str] = set()  # other locks of the declaration

    def add(self, node: Node) -> bool:
        """Add a statement; return true if the section ends with it."""
        inner = labelled(node)
        calls = [each for each in node.walk() if id(each) in self.unlocks]
        for taken in (each for each in node.walk() if id(each) in self.locks):
            name = self.uses.key(taken)
            if name == self.name:
                raise taken.refuse(
                    f"the lock is taken here again, inside the section of line "
                    f"{self.lock.node.line}",
                    f"unlock in the same block as line {self.lock.node.line} locks, "
                    "before this line",
                )
            self.inner.add(name)
        names = {id(call): self.uses.key(call) for call in calls}
        others = [call for call in calls if names[id(call)] != self.name]
        calls = [call for call in calls if names[id(call)] == self.name]
        self._check_others([e for e in others if names[id(e)] not in self.inner], calls)
        if len(calls) == 1 and self._is_end(inner, calls[0]):
            if inner is not node:
                self.nodes.append(node)
            return True
        self.nodes.append(node)
        if not calls:
            return False
        falling = [call for call in calls if self._add_exit(call)]
        last = self._last_blocks(inner)
        for call in falling:
            if last is None or statement_of(call, "unlock").block not in last:
                raise call.refuse(
                    "the lock is released on this path only, and the section goes on",
                    "let the path that releases it end in return, break, continue or "
                    "goto",
                )
        if last is None:
            return False
        self.end_of_text = self.end = node.end
        self.ends_open = False
        return True

    def _check_others(self, others: list[Node], own: list[Node]) -> None:
        """Raise Refused if another lock is released here, and not after the own one."""
        for call in others:
            blocks = [statement_of(each, "unlock") for each in own]
            if not any(
                each.end <= call.start and each.block in call.ancestors()
                for each in blocks
            ):
                raise call.refuse(
                    "the lock that is released is not written as where it is acquired, "
                    f"in line {self.lock.node.line}",
                    "use the same expression in both",
                )

    def _is_end(self, inner: Node, call: Node) -> bool:
        statement = statement_of(call, "unlock")
        if statement.node is not inner:
            return False
        self.end_of_text, self.end = statement.start, statement.end
        self.unlock = statement
        return True

    def _add_exit(self, call: Node) -> bool:
        """Add the exit of an unlock; return true if the path goes on in its block."""
        unlock = statement_of(call, "unlock")
        block = unlock.block
        if any(each.block is block for each in self.exits):
            raise call.refuse("the lock is released twice in this block")
        last = Exit(len(self.exits) + 1, unlock, block, unlock.end, block.end - 1)
        self.exits.append(last)
        return not ends_in_jump(last.nodes)

    def _last_blocks(self, node: Node) -> list[Node] | None:
        """Return the blocks of exits after which nothing of the statement follows.

        None if a path through the statement keeps the lock.
        """
        if node.kind == "COMPOUND_STMT":
            if any(each.block is node for each in self.exits):
                return [node]
            return self._last_blocks(node.children[-1]) if node.children else None
        if node.kind != "IF_STMT" or len(node.children) != 3:
            return None
        branches = [self._last_blocks(each) for each in node.children[1:]]
        if None in branches:
            return None
        return [block for branch in branches for block in branch or ()]

    def not_released(self) -> Refused:
        """Return the refusal of a section that does not end in its block."""
        return self.lock.node.refuse(
            "the lock is not released in the block where it is acquired",
            "put the lock and the unlock into the same block of one function",
        )
