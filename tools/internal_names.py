# SPDX-License-Identifier: MIT
"""The names that Hasp's internal headers declare, and what they are called for users.

A public header brings internal ones with it, whose short names (`park`, `struct lock`)
would clash with a program's own. So each name that an internal header declares at file
level gets the prefix `hasp_in_`, or `HASP_IN_` if it is in capitals.

Names that macros paste together follow: `prefix##_fast` is renamed through the argument
of the macro, `DEFINE_##word` through the fragment in front.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from c_tokens import code, directives, is_name, tokens

KEYWORDS = {
    "bool",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "true",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "NULL",
    "__attribute__",
    "__typeof__",
    "__asm__",
    "__thread",
    "_Static_assert",
    "_Generic",
    "constructor",
    "noreturn",
}
OPENING, CLOSING = "([{", ")]}"

DEFINE = re.compile(r"#\s*define\s+(\w+)(\([^)]*\))?(.*)", re.DOTALL)


@dataclass(eq=False)
class Names:
    """Declared names, and the fragments that macros paste to others."""

    declared: set[str] = field(default_factory=set)
    arguments: set[str] = field(default_factory=set)
    before: set[str] = field(default_factory=set)  # FRAGMENT_##argument
    after: set[str] = field(default_factory=set)  # argument##_fragment

    def add(self, text: str) -> None:
        """Add what one header declares."""
        self._merge(_of_header(text))

    def _merge(self, others: Names) -> None:
        self.declared |= others.declared
        self.arguments |= others.arguments
        self.before |= others.before
        self.after |= others.after

    def _read(self, text: str) -> None:
        lines, rest = directives(text)
        for line in lines:
            found = DEFINE.match(line)
            if found:
                self.declared.add(found[1])
                self._add_fragments(found[3], found[2] or "")
                self.declared |= enumerators_and_tags(code(found[3]))
        words = code(rest)
        self.declared |= enumerators_and_tags(words)
        for statement in statements(words):
            self._add_statement(statement)

    def add_calls(self, text: str) -> None:
        """Add the names that a source, whose own names are private, gives to macros."""
        self._merge(_of_calls(text))

    def _add_arguments(self, words: list[str]) -> None:
        if len(words) > 1 and words[0].isupper() and words[1] == "(":
            self.arguments |= plain_arguments(words[2:])

    def _add_statement(self, words: list[str]) -> None:
        self._add_arguments(words)
        name = declared_by(words)
        if name:
            self.declared.add(name)

    def _add_fragments(self, body: str, parameters: str) -> None:
        names = set(re.findall(r"\w+", parameters))
        words = code(body)
        for at, word in enumerate(words[:-1]):
            left, right = words[at - 1], words[at + 1]
            if word == "##" and right not in names:
                self.after.add(right)
            if word == "##" and left not in names and words[at - 2] != "##":
                self.before.add(left)

    @cache  # noqa: B019 - there is one object
    def renamed(self, word: str) -> str:
        """Return the name for users; the same word if it is not one of ours."""
        if word.lower().startswith(("hasp_", "__", "_hasp")) or word in KEYWORDS:
            return word
        for fragment in self.before:
            rest = word.removeprefix(fragment)
            if (
                word in self.declared
                and rest
                and rest != word
                and rest in self.declared
            ):
                return prefixed(fragment) + self.renamed(rest)
        if word in self.declared or word in self.before:
            return prefixed(word)
        return prefixed(word) if self._is_pasted(word) else word

    def _is_pasted(self, word: str) -> bool:
        """Return whether a macro makes this name, or makes names from it."""
        return any(
            (word in self.arguments and word + end in self.declared)
            or (word.endswith(end) and word.removesuffix(end) in self.arguments)
            for end in self.after
        )


@cache  # most headers are included by most others
def _of_header(text: str) -> Names:
    names = Names()
    names._read(text)
    return names


@cache
def _of_calls(text: str) -> Names:
    names = Names()
    for statement in statements(code(directives(text)[1])):
        names._add_arguments(statement)
    return names


def prefixed(name: str) -> str:
    return ("HASP_IN_" if name.upper() == name else "hasp_in_") + name


def statements(words: list[str]) -> Iterable[list[str]]:
    """Yield what stands at file level, without the bodies in braces."""
    current: list[str] = []
    depth = 0
    for word in words:
        if word == "}":
            depth -= 1
            if depth == 0:
                current.append("{}")
        elif word == "{":
            depth += 1
        elif depth == 0:
            current.append(word)
        if depth == 0 and (word == ";" or ends_function(current)):
            yield current
            current = []
    if current:
        yield current


def ends_function(words: list[str]) -> bool:
    """Return whether these words are a whole function, or a macro that makes one."""
    if words[-1:] == ["{}"]:
        return len(words) > 1 and words[-2] == ")"
    return (
        words[-1:] == [")"]
        and words[0].isupper()
        and words.count("(") == words.count(")")
        and words[1] == "("
    )


def declared_by(words: list[str]) -> str | None:
    """Return the function, variable or type that a statement declares, if any."""
    words = without_attributes(words)
    if not words or words[0] in ("_Static_assert", ";"):
        return None
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ";"
        if not is_name(word) or word in KEYWORDS:
            continue
        if at and words[at - 1] in ("struct", "union", "enum"):
            continue
        if following in ("(", "[", "=", ";", ",") and at:
            return word
    return None


def without_attributes(words: list[str]) -> list[str]:
    result: list[str] = []
    at = 0
    while at < len(words):
        if words[at] in ("__attribute__", "__asm__"):
            depth, at = 0, at + 1
            while at < len(words):
                depth += (words[at] == "(") - (words[at] == ")")
                at += 1
                if depth == 0:
                    break
        else:
            result.append(words[at])
            at += 1
    return result


def enumerators_and_tags(words: list[str]) -> set[str]:
    found = set()
    for at, word in enumerate(words[:-1]):
        if word not in ("struct", "union", "enum"):
            continue
        tagged = is_name(words[at + 1])
        body = at + 2 if tagged else at + 1
        if tagged and words[body : body + 1] in ([";"], ["{"]):
            found.add(words[at + 1])
        if word == "enum" and words[body : body + 1] == ["{"]:
            found |= enumerators(words[body + 1 :])
    return found


def enumerators(words: list[str]) -> set[str]:
    found, depth, expected = set(), 0, True
    for word in words:
        if word == "}" and depth == 0:
            break
        depth += (word in OPENING) - (word in CLOSING)
        if expected and depth == 0 and is_name(word):
            found.add(word)
            expected = False
        if word == "," and depth == 0:
            expected = True
    return found


def plain_arguments(words: list[str]) -> set[str]:
    """Return the arguments of a macro call that are single names."""
    found: set[str] = set()
    current: list[str] = []
    depth = 0
    for word in words:
        if depth == 0 and word in (",", ")"):
            if len(current) == 1 and is_name(current[0]):
                found.add(current[0])
            current = []
        else:
            current.append(word)
        depth += (word in OPENING) - (word in CLOSING)
        if depth < 0:
            break
    return found - KEYWORDS


@cache
def rename(text: str, names: Names) -> str:
    """Return the source with every internal name as users see it."""
    return "".join(
        names.renamed(word) if kind == "name" else word for kind, word in tokens(text)
    )
