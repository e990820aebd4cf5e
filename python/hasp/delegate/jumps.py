# SPDX-License-Identifier: MIT
"""Jumps into sections, out of them, and inside."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.delegate.section import Exit, Section
from hasp.delegate.statements import labelled
from hasp.delegate.syntax import Node

LOOPS = ("WHILE_STMT", "FOR_STMT", "DO_STMT")
JUMPS = ("RETURN_STMT", "GOTO_STMT", "BREAK_STMT", "CONTINUE_STMT")
# Functions that never return, and are not declared so everywhere.
ENDS = (
    *("abort", "exit", "_exit", "_Exit", "quick_exit"),
    *("pthread_exit", "__assert_fail"),
)


def ends_in_jump(nodes: Sequence[Node]) -> bool:
    """Return true if control never reaches the end of these statements."""
    if not nodes:
        return False
    last = labelled(nodes[-1])
    if last.kind in JUMPS:
        return True
    if last.kind == "CALL_EXPR":
        return last.name in ENDS
    if last.kind == "COMPOUND_STMT":
        return ends_in_jump(last.children)
    if last.kind == "IF_STMT":
        branches = last.children[1:]
        return len(branches) == 2 and all(ends_in_jump([each]) for each in branches)
    return False


def check_jumps(section: Section) -> None:
    """Raise Refused if the section is entered or left other than by its lock."""
    nodes = list(section.function.walk())
    labels = {node.name: node for node in nodes if node.kind == "LABEL_STMT"}
    for node in nodes:
        if node.kind in ("INDIRECT_GOTO_STMT", "ADDR_LABEL_EXPR"):
            raise node.refuse("the function has computed jumps or addresses of labels")
        if node.kind == "GOTO_STMT":
            _check_goto(section, node, labels)
    for node in section.walk():
        if node.kind == "RETURN_STMT":
            raise node.refuse("returns without releasing the lock")
        if node.kind in ("BREAK_STMT", "CONTINUE_STMT"):
            target = _target(node)
            if target is None or not section.start <= target.start:
                raise node.refuse(
                    f"{_word(node)} leaves the section with the lock",
                    f"unlock in front of the {_word(node)}, not where it goes",
                )
        if node.kind in ("CASE_STMT", "DEFAULT_STMT"):
            switch = node.within(("SWITCH_STMT",))
            if switch is None or not section.start <= switch.start:
                raise node.refuse("a case of a switch jumps into the section")
    for each in section.exits:
        _check_exit(section, each)


def _check_goto(section: Section, goto: Node, labels: dict[str, Node]) -> None:
    name = _label_of(goto)
    label = labels.get(name)
    if label is None:
        raise goto.refuse("the label of this goto is inside a macro")
    from_inside, to_inside = section.inside(goto.start), section.inside(label.start)
    if to_inside and not from_inside:
        raise goto.refuse(f"goto {name} jumps into the section")
    if from_inside and not to_inside:
        raise goto.refuse(
            f"goto {name} leaves the section with the lock",
            "unlock in front of the goto, not where it goes",
        )
    for each in section.exits:
        if each.start <= label.start < each.end and not (
            each.start <= goto.start < each.end
        ):
            raise goto.refuse(f"goto {name} jumps behind the unlock of another path")


def _label_of(goto: Node) -> str:
    return next((each.name for each in goto.children if each.kind == "LABEL_REF"), "")


def _target(node: Node) -> Node | None:
    kinds = LOOPS if node.kind == "CONTINUE_STMT" else (*LOOPS, "SWITCH_STMT")
    return node.within(kinds)


def _word(node: Node) -> str:
    return node.kind.partition("_")[0].lower()


def _check_exit(section: Section, leaving: Exit) -> None:
    """Raise Refused if a jump after the unlock returns into the section."""
    for top in leaving.nodes:
        for node in top.walk():
            if node.kind in ("BREAK_STMT", "CONTINUE_STMT"):
                target = _target(node)
                if target and section.start <= target.start < leaving.start:
                    raise node.refuse(
                        f"{_word(node)} goes on inside the section after the unlock"
                    )
            if node.kind in ("CASE_STMT", "DEFAULT_STMT"):
                switch = node.within(("SWITCH_STMT",))
                if switch and switch.start < leaving.start:
                    raise node.refuse("a case of a switch jumps behind the unlock")
