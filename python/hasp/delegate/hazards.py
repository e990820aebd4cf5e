# SPDX-License-Identifier: MIT
"""What a section must not do, because another thread may execute it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hasp.delegate.captures import locals_of
from hasp.delegate.expression import key
from hasp.delegate.reach import OTHER_LOCKS, Reach
from hasp.delegate.refusal import Refusal, Refused
from hasp.delegate.section import Section
from hasp.delegate.syntax import Node
from hasp.delegate.thread_bound import problem_of
from hasp.delegate.tokens import directive_word, tokens

# Functions that depend on the stack frame of their caller.
USES_FRAME = (
    *("setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "alloca", "__builtin_alloca"),
    *("__builtin_setjmp", "vfork"),
)


def hazards_of(
    section: Section, reach: Reach, waits: Sequence[Node] = ()
) -> Iterator[Refusal]:
    """Yield why a section must stay where it is; the calls of `waits` may move."""
    allowed = {each.place for each in waits}
    source = section.source
    for node in section.walk():
        problem = problem_of(node)
        if problem and node.place in allowed:
            continue
        if problem:
            yield node.refusal(problem)
        elif node.kind == "CALL_EXPR" and node.usr:
            found = reach.problem(node.usr)
            if found:
                yield node.refusal(f"calls {node.name}(), which {found}")
    for node in section.function.walk():
        if node.kind == "CALL_EXPR" and node.name in USES_FRAME:
            yield node.refusal(f"{node.name}() is in the function of a section")
    yield from _directives(section)
    yield from _unpaired(section, reach)
    yield from _changed_lock(section)
    for leaving in section.exits:
        if leaving.end <= leaving.unlock.start:
            yield leaving.unlock.call.refusal("the end of this block is in a macro")
    if source.text[section.lock.node.start : section.end].count(b"\0"):
        yield section.lock.node.refusal("the source has NUL bytes")


def _directives(section: Section) -> Iterator[Refusal]:
    """Yield the conditional directives that begin or end inside the section only."""
    parts = [(section.lock.node.start, section.end)]
    parts += [(each.unlock.start, each.end) for each in section.exits]
    for start, end in parts:
        depth = 0
        for token in tokens(section.source.text, start, end):
            if token.kind != "directive":
                continue
            word = directive_word(token)
            if word in (b"if", b"ifdef", b"ifndef"):
                depth += 1
            elif word == b"endif":
                depth -= 1
            elif word in (b"define", b"undef", b"include", b"line"):
                depth = -1
            if depth < 0 or (depth == 0 and word.startswith(b"el")):
                break
        if depth:
            yield section.lock.node.refusal(
                "preprocessor directives in the section do not end in it"
            )
            return


def _unpaired(section: Section, reach: Reach) -> Iterator[Refusal]:
    """Yield the other locks that a section acquires or releases without the other."""
    depth: dict[str, int] = {}
    last: dict[str, Node] = {}
    for node in section.walk():
        name, change = _other_lock(node, reach)
        if not change:
            continue
        on_exit = any(leaving.block in node.ancestors() for leaving in section.exits)
        if change > 0 or not on_exit:
            depth[name] = depth.get(name, 0) + change
            last[name] = node
        if change < 0 and depth.get(name, -1) < 0:
            depth[name] = 0
            yield node.refusal(
                "releases a lock that was acquired outside of the section: only its "
                "owner may"
            )
    for name, count in depth.items():
        if count > 0:
            yield last[name].refusal(
                "acquires a lock that is still held at the end of the section"
            )
    for leaving in section.exits:
        for top in leaving.nodes:
            for node in top.walk():
                name, change = _other_lock(node, reach)
                if change < 0 and name in depth:
                    yield node.refusal(
                        "releases a lock that the section acquired, after its end"
                    )


def _other_lock(node: Node, reach: Reach) -> tuple[str, int]:
    """Return a name for the lock that a call acquires or releases, and 1 or -1."""
    if node.kind != "CALL_EXPR":
        return "", 0
    change = OTHER_LOCKS.get(node.name, 0)
    if not change:
        return reach.locking(node)
    if len(node.children) < 2:
        return "", 0
    try:
        return key(node.children[1]), change
    except Refused:
        words = node.children[1].cursor.get_tokens()
        return "".join(word.spelling for word in words), change


def _changed_lock(section: Section) -> Iterator[Refusal]:
    """Yield the assignments to variables that the expression of the lock uses."""
    function = locals_of(section.function)
    used = {
        node.usr
        for argument in section.lock.call.children[1:]
        for node in argument.walk()
        if node.kind == "DECL_REF_EXPR"
    }
    for node in section.walk():
        if node.kind != "DECL_REF_EXPR" or node.usr not in used:
            continue
        if function.is_written(node) or node.usr in function.addressed:
            yield node.refusal(
                f"{node.name}, by which the lock is found, changes in the section"
            )
