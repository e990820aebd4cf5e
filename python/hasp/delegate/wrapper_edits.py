# SPDX-License-Identifier: MIT
"""Replaces functions that only lock or unlock by one that returns the lock."""

from __future__ import annotations

from collections.abc import Iterator

from hasp.delegate.creation import OBJECT, static_object
from hasp.delegate.edits import Edits
from hasp.delegate.places import line_end
from hasp.delegate.refusal import Refusal
from hasp.delegate.syntax import Node
from hasp.delegate.tokens import Token, next_token, tokens
from hasp.delegate.uses import Uses
from hasp.delegate.wrappers import LOCK, Wrapper


def rewrite_wrappers(uses: Uses, executor: str, edits: Edits) -> Iterator[Refusal]:
    """Add the edits; yield why they would not be right."""
    for wrapper in uses.wrappers.values():
        nodes = (*wrapper.definitions, *wrapper.empty, *wrapper.prototypes)
        for node in nodes:
            if node.start in node.source.macros:
                yield node.refusal(f"a macro declares {wrapper.name}()")
                return
            if not _is_alone(node, wrapper):
                yield node.refusal(
                    f"{wrapper.name}() is declared together with something else"
                )
                return
        if wrapper.does == LOCK:
            yield from _objects(wrapper, uses, executor, edits)
        else:
            for node in nodes:
                _remove(node, edits)


def _is_alone(node: Node, wrapper: Wrapper) -> bool:
    """Return false for one of several declarators: `void lock(void), unlock(void);`."""
    text = node.source.text
    following = next_token(text, node.end)
    if following and following.text == b",":
        return False
    for word in tokens(text, node.start, node.end):
        if word.text == wrapper.name.encode():
            return True
        if word.text == b",":
            return False
    return True


def _objects(
    wrapper: Wrapper, uses: Uses, executor: str, edits: Edits
) -> Iterator[Refusal]:
    returned = uses.text(wrapper.call)
    # The sections of a program that is compiled without the lock need one of their own.
    unused = f"{wrapper.name}_unused"
    created = static_object(unused, executor)
    for node, before, value in (
        *((node, "", "") for node in wrapper.prototypes),
        *((node, "", returned) for node in wrapper.definitions),
        *((node, created, f"&{unused}") for node in wrapper.empty),
    ):
        words = _signature(node, wrapper)
        if not words:
            yield node.refusal(f"the declaration of {wrapper.name}() is not plain")
            return
        body = f"\n{{\n    return {value};\n}}" if value else ""
        edits.replace(node.source, node.start, node.end, f"{before}{words}{body}")


def _signature(node: Node, wrapper: Wrapper) -> str:
    """Return the declaration of the function that returns the lock; "" if unknown."""
    source = node.source
    words = list(tokens(source.text, node.start, node.end))
    at = next(
        (n for n, word in enumerate(words) if word.text == wrapper.name.encode()), None
    )
    if at is None or at + 1 >= len(words) or words[at + 1].text != b"(":
        return ""
    close = _closing(words, at + 1)
    kept = [w.text.decode() for w in words[:at] if w.text in (b"static", b"inline")]
    before = f"{' '.join(kept)} " if kept else ""
    parameters = source.text[words[at + 1].start : close].decode(
        errors="surrogateescape"
    )
    return f"{before}{OBJECT} *{wrapper.object_name}{parameters}"


def _closing(words: list[Token], opening: int) -> int:
    depth = 0
    for word in words[opening:]:
        depth += (word.text == b"(") - (word.text == b")")
        if not depth:
            return word.end
    return words[-1].end


def _remove(node: Node, edits: Edits) -> None:
    source, end = node.source, node.end
    following = next_token(source.text, end)
    if following and following.text == b";":
        end = following.end
    edits.replace(source, node.start, line_end(source.text, end), "")
