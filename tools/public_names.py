# SPDX-License-Identifier: MIT
"""Finds what a public header calls as users see it: parameters, and members of structs.

Internal names get a prefix (internal_names.py), and whatever is called as one of them
would get it, too: `hasp_barrier_wait(struct hasp_barrier *hasp_in_barrier)`. Parameters
keep their names, as they cannot clash with anything outside their function. Members
that programs use must have names that no internal header declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from c_tokens import is_name

Token = tuple[str, str]  # kind, text
TAGGED = ("struct", "union", "enum")


def parameter_uses(source: Sequence[Token]) -> set[int]:
    """Return the indices of the tokens that name a parameter of their function.

    Members, tags and functions that are called have the same name as a parameter at
    times; they are not among them.
    """
    at = [
        index
        for index, (kind, _) in enumerate(source)
        if kind not in ("comment", "space")
    ]
    words = [source[index][1] for index in at]
    uses: set[int] = set()
    for opening, closing, end in functions(words):
        names = set(parameters(words[opening + 1 : closing]))
        for here in range(opening + 1, end):
            if words[here] in names and stands_alone(words, here):
                uses.add(at[here])
    return uses


def functions(words: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield, of each function hasp_*, where its parameters begin and end, and its end.

    A function ends with its body, or with the semicolon of its declaration. Types of
    functions are none.
    """
    here, depth, is_type = 0, 0, False
    while here < len(words) - 1:
        word = words[here]
        depth += (word in "({") - (word in ")}")
        if word in ("typedef", ";"):
            is_type = word == "typedef"
        is_function = word.startswith("hasp_") and words[here + 1] == "("
        if depth == 0 and is_function and not is_type:
            closing = matching(words, here + 1)
            end = closing
            while end < len(words) - 1 and words[end] not in "{;":
                end += 1
            if words[end] == "{":
                end = matching(words, end)
            yield here + 1, closing, end
            here = end
        here += 1


def matching(words: Sequence[str], opening: int) -> int:
    depth = 0
    for here in range(opening, len(words)):
        depth += (words[here] in "({[") - (words[here] in ")}]")
        if depth == 0:
            return here
    return len(words) - 1


def parameters(words: Sequence[str]) -> Iterator[str]:
    """Yield the name of each parameter: f of `int (*f)(int x)`."""
    depth, name, pointer = 0, "", ""
    for here, word in enumerate(words):
        if depth == 1 and words[here - 2 : here] == ["(", "*"] and is_name(word):
            pointer = word
        if depth == 0 and is_name(word):
            name = word
        depth += (word in "([") - (word in ")]")
        if depth == 0 and word == ",":
            yield pointer or name
            name = pointer = ""
    if words:
        yield pointer or name


def stands_alone(words: Sequence[str], here: int) -> bool:
    before, after = words[here - 1], words[here + 1]
    if before == "." or words[here - 2 : here] == ["-", ">"] or before in TAGGED:
        return False
    return after != "("


def members(source: Sequence[Token]) -> Iterator[list[str]]:
    """Yield the words of each declaration in the structs hasp_*."""
    words = [word for kind, word in source if kind not in ("comment", "space")]
    for here in range(len(words) - 2):
        if words[here] != "struct" or words[here + 2] != "{":
            continue
        if words[here + 1].startswith("hasp_"):
            declaration: list[str] = []
            for word in words[here + 3 : matching(words, here + 2)]:
                if word == ";":
                    yield declaration
                    declaration = []
                else:
                    declaration.append(word)
