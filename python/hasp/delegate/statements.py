# SPDX-License-Identifier: MIT
"""The statements that lock and unlock, with the macros that they are written as."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.delegate.libclang import ASSIGN, binary_operator
from hasp.delegate.success import is_void, takes_result
from hasp.delegate.syntax import TRANSPARENT, Node
from hasp.delegate.tokens import arguments, end_of_statement, next_token

LABELS = ("LABEL_STMT", "CASE_STMT", "DEFAULT_STMT")


@dataclass(frozen=True)
class Statement:
    """A statement that locks or unlocks."""

    call: Node
    node: Node  # the whole statement
    outer: Node  # the same with its labels, as it stands in its block
    block: Node
    start: int
    end: int  # after its semicolon
    kept: str = ""  # what remains without the call, whose result is 0


def labelled(node: Node) -> Node:
    """Return the statement after labels."""
    while node.kind in LABELS and node.children:
        node = node.children[-1]
    return node


def is_statement(call: Node) -> bool:
    """Return true if a call is a statement, so that nothing uses its value."""
    parent = call.parent
    if parent is None or not parent.kind.endswith("_STMT"):
        return False
    if parent.kind in ("COMPOUND_STMT", *LABELS):
        return True
    if parent.kind == "IF_STMT":
        return call is not parent.children[0]
    if parent.kind == "DO_STMT":
        return call is parent.children[0]
    return parent.kind in ("FOR_STMT", "WHILE_STMT") and call is parent.children[-1]


def statement_of(call: Node, what: str) -> Statement:
    """Return the statement that a call is, or whose condition or value it is.

    Raises Refused if the call is a part of anything else.
    """
    node, uses_result = call, False
    while parent := node.parent:
        if not takes_result(parent, node, call):
            break
        node = parent
        uses_result |= not (parent.kind in TRANSPARENT or is_void(parent))
    plain = node
    node = _with_macro(node, what)
    outer = node
    while outer.parent and outer.parent.kind in LABELS:
        outer = outer.parent
    block = outer.parent
    if block is None or block.kind != "COMPOUND_STMT":
        raise _not_alone(call, block, what)
    if block.within(("StmtExpr", "UNEXPOSED_EXPR", "BLOCK_EXPR")):
        raise call.refuse(f"the {what} is part of an expression")
    end = _end(node, what)
    kept = _kept(call, plain, end, what) if uses_result else ""
    if kept and plain.kind == "DECL_STMT" and outer is not node:
        raise call.refuse(f"the {what} is a declaration with a label")
    return Statement(call, node, outer, block, node.start, end, kept)


def _kept(call: Node, node: Node, end: int, what: str) -> str:
    """Return the statement with 0 in place of the call.

    Return "" if it is all a macro's, or an expression that has then no effect.
    """
    source = call.source
    text = source.text
    ranges = arguments(text, call.offset)
    name = call.name.encode()
    if not text.startswith(name, call.offset) or not ranges:
        stores = ("DECL_STMT", "RETURN_STMT")
        if node.kind in stores or _assigns(node):
            raise call.refuse(f"a macro stores the result of the {what}")
        return ""
    if node.kind == "BINARY_OPERATOR" and not _assigns(node):
        return ""
    after = ranges[-1][1] + 1
    whole = text[node.start : call.offset] + b"0" + text[after:end]
    return whole.decode(errors="surrogateescape")


def _assigns(node: Node) -> bool:
    return any(
        each.kind == "BINARY_OPERATOR" and binary_operator(each.cursor) == ASSIGN
        for each in node.walk()
    )


def _with_macro(node: Node, what: str) -> Node:
    """Return the `{...}` or `do {...} while (0)` that a macro puts around a call."""
    while True:
        parent = node.parent
        if parent is None or parent.start != node.start:
            return node
        if parent.kind not in ("COMPOUND_STMT", "DO_STMT", "NULL_STMT"):
            return node
        others = [
            each
            for each in parent.children
            if each is not node and each.kind not in ("NULL_STMT", "INTEGER_LITERAL")
        ]
        if others:
            macro = node.source.text[node.start : node.source.macros[node.start][0]]
            raise node.refuse(
                f"the macro {macro.decode(errors='replace')} does more than {what}",
                f"call pthread_mutex_{what}() here",
            )
        node = parent


def _not_alone(call: Node, parent: Node | None, what: str) -> Exception:
    kind = parent.kind if parent else ""
    if kind in ("IF_STMT", "SWITCH_STMT") or kind.endswith(("WHILE_STMT", "FOR_STMT")):
        if call.start == (parent.start if parent else -1):
            return call.refuse(f"a macro makes the {what} depend on a condition")
        return call.refuse(
            f"the {what} depends on a condition, or its result is used",
            "write it as a statement of its own, in braces",
        )
    return call.refuse(
        f"the result of the {what} is used", "write it as a statement of its own"
    )


def _end(node: Node, what: str) -> int:
    """Return the offset after a statement, with its semicolon."""
    source = node.source
    macro_end = source.macros.get(node.start, (-1, []))[0]
    if macro_end >= node.end:
        following = next_token(source.text, macro_end)
        mark = following.text if following else b""
        if following and mark == b";":
            return following.end
        if mark != b"(":
            return macro_end
    end = end_of_statement(source.text, node.start)
    if end < 0:
        raise node.refuse(f"the end of the {what} is inside a macro")
    return end
