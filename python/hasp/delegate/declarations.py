# SPDX-License-Identifier: MIT
"""The lock as an object of hasp/delegate.h: its declaration, creation and end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from hasp.delegate.c_types import ARRAYS
from hasp.delegate.creation import HEADER, OBJECT, constructor, static_object
from hasp.delegate.edits import Edits
from hasp.delegate.lock import MUTEX, is_pointer
from hasp.delegate.macros import call_text, names_type
from hasp.delegate.places import line_end, place_of
from hasp.delegate.refusal import Refusal
from hasp.delegate.statements import is_statement
from hasp.delegate.syntax import Node, Source, Unit
from hasp.delegate.tokens import (
    Token,
    directive_word,
    end_of_statement,
    line_start,
    next_token,
    tokens,
)
from hasp.delegate.uses import Uses
from hasp.delegate.wrappers import (
    DESTROY,
    INIT,
    functions_of,
    is_null,
    parameters_of,
)

INITIALISERS = (b"PTHREAD_MUTEX_INITIALIZER", b"PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP")


class Declarations:
    """Rewrites the declarations of a lock, and what creates and destroys it."""

    def __init__(
        self, uses: Uses, units: Sequence[Unit], executor: str, edits: Edits
    ) -> None:
        self.uses = uses
        self.units = units
        self.executor = executor
        self.edits = edits
        self.refusals: list[Refusal] = []

    def rewrite(self) -> list[Refusal]:
        """Add the edits; return why they would not be right."""
        created = bool(self.uses.of(INIT))
        for node in self.uses.declarations:
            if node.kind == "PARM_DECL":
                self._parameter(node)
            elif _is_local_static(node):
                self._out_of_function(node)
            else:
                self._declaration(node)
            created |= node.kind == "VAR_DECL" and not is_pointer(node.cursor)
        for node in self.uses.created:
            self._designated(node)
            created = True
        for node in self.uses.sizes:
            self.edits.replace(node.source, node.start, node.end, OBJECT)
        for call in self.uses.of(INIT):
            self._creation(call)
        for call in self.uses.of(DESTROY):
            self._end(call)
        if not created and self.uses.declarations:
            self.refusals.append(
                self.uses.declarations[0].refusal(
                    "no call of pthread_mutex_init() creates the lock: executors have "
                    "no static initialiser for members"
                )
            )
        return self.refusals

    def _refuse(self, node: Node, reason: str, remedy: str = "") -> None:
        self.refusals.append(node.refusal(reason, remedy))

    def _declaration(self, node: Node) -> None:
        source, text = node.source, node.source.text
        in_function = node.kind == "VAR_DECL" and node.within(("FUNCTION_DECL",))
        if in_function and not is_pointer(node.cursor) and not self.uses.of(INIT):
            self._refuse(
                node, "no call of pthread_mutex_init() creates the function's lock"
            )
            return
        first = next_token(text, node.start)
        named = first is not None and names_type(source, first, MUTEX)
        if node.start in source.macros and not named:
            self._in_macro(node)
            return
        end = end_of_statement(text, node.start)
        words = list(tokens(text, node.start, end))
        name = next((w for w in words if w.text == node.name.encode()), None)
        if name is None or end < 0 or _has_several(words):
            self._refuse(
                node,
                "the declaration also declares something else",
                "declare the lock by itself",
            )
            return
        if self._type(node, name.start):
            self._initialiser(node, words, end)

    def _type(self, node: Node, end: int) -> bool:
        """Replace the type in front of the name of the lock."""
        source = node.source
        words = tokens(source.text, node.start, end)
        types = [
            word
            for word in words
            if _is_type(word.text, node) or names_type(source, word, MUTEX)
        ]
        if len(types) != 1:
            self._refuse(node, "the type of the lock is not written by its name")
            return False
        self.edits.replace(source, types[0].start, types[0].end, OBJECT)
        return True

    def _parameter(self, node: Node) -> None:
        """Replace the type of a parameter in all declarations of its function."""
        function = node.parent
        if function is None:
            return
        position = parameters_of(function).index(node)
        usr = function.cursor.get_usr()
        for each in functions_of(usr, function.name, self.units):
            for parameter in parameters_of(each)[position : position + 1]:
                self._type(parameter, parameter.end)

    def _out_of_function(self, node: Node) -> None:
        """Declare a static lock of a function in front of the function instead."""
        source = node.source
        function = node.within(("FUNCTION_DECL",))
        end = end_of_statement(source.text, node.start)
        words = list(tokens(source.text, node.start, end))
        equals = next((word for word in words if word.text == b"="), None)
        given = [w.text for w in words if equals and w.start > equals.start]
        if (
            function is None
            or _has_several(words)
            or node.start in source.macros
            or (equals and given[0] not in INITIALISERS)
            or node.cursor.type.kind.name in ARRAYS
        ):
            self._refuse(node, "the lock is a variable of a function", "move it out")
            return
        name = self.uses.names[node.cursor.get_usr()]
        self.edits.replace(source, node.start, line_end(source.text, end), "")
        made = static_object(name, self.executor)
        self.edits.insert(source, place_of(function), made)

    def _designated(self, node: Node) -> None:
        """Remove the initialiser of a member, and create its object by a function."""
        source, text = node.source, node.source.text
        path, variable = _initialised(node)
        words = list(islice(tokens(text, node.start), 6))
        plain = [word.text for word in words[:3]] == [
            b".",
            node.children[0].name.encode(),
            b"=",
        ]
        if variable is None or not plain or words[3].text not in INITIALISERS:
            self._refuse(node, "this initialiser of the lock is not known")
            return
        more = words[4].text == b","
        end = words[5].start if more else words[3].end
        alone = text[: node.start].rstrip().endswith(b"{") and not more
        self.edits.replace(source, node.start, end, "0" if alone else "")
        where = _next_line(text, end_of_statement(text, variable.start))
        made = constructor(f"{variable.name}.{path}", "", self.executor)
        self.edits.insert(source, where, made)

    def _in_macro(self, node: Node) -> None:
        """Replace a macro that declares the lock by the declaration itself."""
        source = node.source
        end = source.macros[node.start][0]
        if node.end > end or node.kind != "FIELD_DECL":
            self._refuse(
                node, "a macro declares the lock", "write it without the macro"
            )
            return
        size, kind = "", node.cursor.type
        while kind.kind.name in ARRAYS:
            size += f"[{kind.element_count}]"
            kind = kind.element_type
        semicolon = next_token(source.text, end)
        mark = "" if semicolon and semicolon.text == b";" else ";"
        self.edits.replace(source, node.start, end, f"{OBJECT} {node.name}{size}{mark}")

    def _initialiser(self, node: Node, words: list[Token], end: int) -> None:
        source = node.source
        equals = next((word for word in words if word.text == b"="), None)
        if equals:
            if is_pointer(node.cursor):
                return
            given = [w.text for w in words if w.start > equals.start and w.text != b";"]
            if not _is_plain(given):
                self._refuse(
                    node,
                    "the initialiser is not PTHREAD_MUTEX_INITIALIZER: only plain "
                    "mutexes can be delegated",
                )
                return
            begin = max(w.end for w in words if w.end <= equals.start)
            self.edits.replace(source, begin, end - 1, "")
        if node.kind != "VAR_DECL" or node.cursor.storage_class.name == "EXTERN":
            return
        if is_pointer(node.cursor) or (self.uses.of(INIT) and not equals):
            return
        index, kind = "", node.cursor.type
        while kind.kind.name in ARRAYS:
            index += f"[i{index.count('[')}]"
            kind = kind.element_type
        made = constructor(node.name, index, self.executor)
        self.edits.insert(source, _next_line(source.text, end), made)

    def _creation(self, call: Node) -> None:
        if call.usr in self.uses.forwards:
            made = f'hasp_delegate_init({self.uses.text(call)}, "{self.executor}")'
            self._replaced(call, made)
            return
        if len(call.children) < 3 or not is_null(call.children[2]):
            self._refuse(
                call,
                "the lock gets attributes: it may be recursive, robust or shared "
                "between processes",
                "pass NULL if it is a plain mutex",
            )
            return
        found = call_text(call)
        if found is None or len(found.words) != 2:
            self._kept_macro(
                call, f'{INIT}(l, a) hasp_delegate_init(l, "{self.executor}")'
            )
            return
        made = f'hasp_delegate_init({found.words[0]}, "{self.executor}")'
        self._replaced(call, made)

    def _end(self, call: Node) -> None:
        alone = is_statement(call)
        if call.usr in self.uses.forwards:
            made = f"hasp_delegate_destroy({self.uses.text(call)})"
            self._replaced(call, made if alone else f"({made}, 0)")
            return
        found = call_text(call)
        if found is None:
            self._kept_macro(call, f"{DESTROY}(l) (hasp_delegate_destroy(l), 0)")
            return
        made = f"hasp_delegate_destroy({found.words[0]})"
        self._replaced(call, made if alone else f"({made}, 0)")

    def _replaced(self, call: Node, text: str) -> None:
        """Replace a call that creates or destroys a lock."""
        found = call_text(call)
        if found is None:
            self._refuse(call, f"{call.name}() is called in a macro")
            return
        made = f"{found.before}{text}{found.after}"
        self.edits.replace(call.source, call.start, found.end, made)

    def _kept_macro(self, call: Node, definition: str) -> None:
        """Redefine the function of pthreads around a macro that calls it."""
        source = call.source
        name = definition.partition("(")[0]
        begin = line_start(source.text, call.start)
        end = source.text.find(b"\n", source.macros.get(call.start, (call.end, []))[0])
        if end < 0 or call.within(("FUNCTION_DECL",)) is None:
            self._refuse(call, f"{name}() is called in a macro")
            return
        self.edits.insert(source, begin, f"#define {definition}\n")
        self.edits.insert(source, end + 1, f"#undef {name}\n")


def _initialised(node: Node) -> tuple[str, Node | None]:
    """Return the path of the member that an initialiser sets, and its variable.

    The variable is None if it is an array or not a variable of a file.
    """
    path, top = node.children[0].name, node.parent
    below = node
    while top and top.kind in ("INIT_LIST_EXPR", "UNEXPOSED_EXPR"):
        if top.kind == below.kind:
            return "", None
        if top.kind == "UNEXPOSED_EXPR":
            if top.children[0].kind != "MEMBER_REF":
                return "", None
            path = f"{top.children[0].name}.{path}"
        below, top = top, top.parent
    if top is None or top.kind != "VAR_DECL" or top.within(("FUNCTION_DECL",)):
        return "", None
    array = top.cursor.type.get_canonical().kind.name in ARRAYS
    return path, None if array or top.start in top.source.macros else top


def _next_line(text: bytes, offset: int) -> int:
    """Return the offset where the next line begins, or the end of the text."""
    return text.find(b"\n", offset) + 1 or len(text)


def _is_plain(words: Sequence[bytes]) -> bool:
    """Return true for an initialiser of a plain mutex, or of an array of them."""
    if len(words) == 1:
        return words[0] in INITIALISERS
    known = [word for word in words if word not in (b"{", b"}", b",", b"=", b"[", b"]")]
    names = [word for word in known if not word[:1].isdigit() and word != b"."]
    return words[0] == b"{" and bool(names) and all(w in INITIALISERS for w in names)


def _is_local_static(node: Node) -> bool:
    static = node.cursor.storage_class.name == "STATIC"
    inside = node.kind == "VAR_DECL" and node.within(("FUNCTION_DECL",))
    return bool(static and inside and not is_pointer(node.cursor))


def _has_several(words: list[Token]) -> bool:
    depth = 0
    for word in words:
        if word.text in b"([{":
            depth += 1
        elif word.text in b")]}":
            depth -= 1
        elif word.text == b"," and depth == 0:
            return True
    return False


def _is_type(word: bytes, node: Node) -> bool:
    references = [each.name for each in node.walk() if each.kind == "TYPE_REF"]
    return word.decode(errors="replace") in references


def insert_header(source: Source, first: int, edits: Edits) -> None:
    """Include hasp/delegate.h in front of the first edit of a file.

    It is put after the last #include above the edit that is compiled whenever the edit
    is; or else in front of the declaration with the first edit.
    """
    where = -1
    directives = list(_directives(source.text, first))
    for offset, depth, word in directives:
        if word == b"include" and depth <= _kept_depth(directives, offset):
            where = _directive_end(source.text, offset)
    if where < 0:
        tops = [each.start for each in source.declarations if each.start <= first]
        where = line_start(source.text, max(tops, default=first))
    edits.insert(source, where, HEADER)


def _directive_end(text: bytes, offset: int) -> int:
    """Return the offset after a directive, which a backslash continues."""
    while True:
        newline = text.find(b"\n", offset)
        if newline < 0:
            return len(text)
        if text[newline - 1 : newline] != b"\\":
            return newline + 1
        offset = newline + 1


def _directives(text: bytes, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield the offset, the depth of conditions and the word of each directive."""
    depth = 0
    for token in tokens(text, 0, end):
        word = directive_word(token)
        if not word:
            continue
        if word in (b"if", b"ifdef", b"ifndef"):
            depth += 1
        elif word == b"endif":
            depth -= 1
        yield token.start, depth, word


def _kept_depth(directives: Sequence[tuple[int, int, bytes]], start: int) -> int:
    """Return the smallest depth of conditions from an offset on."""
    smallest, at = None, 0
    for offset, depth, word in directives:
        if offset <= start:
            at = depth
            continue
        # The other branch of a condition is another one.
        shown = depth - 1 if word in (b"else", b"elif") else depth
        smallest = shown if smallest is None else min(smallest, shown)
    return at if smallest is None else min(at, smallest)
