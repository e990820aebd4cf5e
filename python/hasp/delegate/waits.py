# SPDX-License-Identifier: MIT
"""Condition variables that sections of the lock wait on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hasp.delegate.edits import Edits
from hasp.delegate.expression import key
from hasp.delegate.lock import lock_of
from hasp.delegate.macros import CallText, call_text, names_type
from hasp.delegate.refusal import Refusal
from hasp.delegate.section import Section
from hasp.delegate.statements import is_statement
from hasp.delegate.success import is_void
from hasp.delegate.syntax import DECLARATIONS, REFERENCES, Node, Unit
from hasp.delegate.tokens import end_of_statement, tokens
from hasp.delegate.uses import WAITS, Uses
from hasp.delegate.wrappers import LOCK, is_null

CONDITION = "struct hasp_delegate_condition"
SIGNALS = {
    "pthread_cond_signal": "hasp_delegate_signal",
    "pthread_cond_broadcast": "hasp_delegate_broadcast",
}
TYPE = "pthread_cond_t"
INITIALISER = b"PTHREAD_COND_INITIALIZER"


class Waits:
    """Rewrites the waits of sections, and the condition variables that they wait on."""

    def __init__(self, uses: Uses, units: Sequence[Unit], edits: Edits) -> None:
        self.uses = uses
        self.units = units
        self.edits = edits

    def rewrite(self, sections: Sequence[Section], executor: str) -> Iterator[Refusal]:
        """Add the edits; yield why they would not be right."""
        if not self.uses.waits:
            return
        first = self.uses.waits[0]
        if not executor.startswith(("rcl", "lock:")):
            yield first.refusal(
                f"waits on a condition variable, which {executor} cannot",
                "delegate with --executor rcl, or lock:NAME",
            )
        conditions = {}
        # The reasons of a section that is refused are given already.
        complete = len(sections) == len(self.uses.of(LOCK))
        for call in self.uses.waits:
            if complete and not any(
                _is_own(call, each, self.uses) for each in sections
            ):
                yield call.refusal("waits outside of the lock's sections")
            named = _named(call.children[1])
            if named is None or _kind(named.referenced) != TYPE:
                yield call.refusal("the condition variable is not named here")
            else:
                condition = lock_of(named.referenced, named)
                conditions[condition.usr] = condition
        for condition in conditions.values():
            seen = set()
            for unit in self.units:
                for node in unit.named(condition.name):
                    declares = node.kind in DECLARATIONS
                    usr = node.cursor.get_usr() if declares else node.usr
                    place = (node.source.path, node.offset, node.kind)
                    if usr == condition.usr and place not in seen:
                        seen.add(place)
                        yield from self._use(node)

    def _use(self, node: Node) -> Iterator[Refusal]:
        if node.kind in DECLARATIONS:
            yield from self._declaration(node)
            return
        call = node.within(("CALL_EXPR",))
        known = call is not None and call.name.startswith("pthread_cond_")
        if not call or not known or _named(call.children[1]) is not node:
            yield node.refusal(
                f"{node.name} is used other than by functions of condition variables"
            )
            return
        text = call_text(call)
        if text is None:
            yield node.refusal(
                f"{node.name} is passed to a macro that calls {call.name}()",
                f"call {call.name}() here, or by a macro of this file's own that only "
                "passes its parameters on",
            )
            return
        made = self._call(call, text)
        if not made:
            yield call.refusal(
                f"{call.name}() uses a condition variable that sections wait on, in a "
                "way that executors do not support"
            )
            return
        made = f"{text.before}{made}{text.after}"
        self.edits.replace(node.source, call.start, text.end, made)

    def _call(self, call: Node, text: CallText) -> str:
        """Return what replaces a call of a function of condition variables."""
        name, words = call.name, text.words
        if name in WAITS:
            if all(each.place != call.place for each in self.uses.waits):
                return ""  # with another lock
            passed = ", ".join([words[1], words[0], *words[2:]])
            return f"hasp_delegate_{name.removeprefix('pthread_cond_')}({passed})"
        if name in SIGNALS:
            made = f"{SIGNALS[name]}({words[0]})"
        elif name == "pthread_cond_init" and is_null(call.children[2]):
            made = f"(void)__builtin_memset({words[0]}, 0, sizeof({CONDITION}))"
        elif name == "pthread_cond_destroy":
            made = f"(void)({words[0]})"
        else:
            return ""
        ignored = call.parent and is_void(call.parent)
        return made if ignored or is_statement(call) else f"({made}, 0)"

    def _declaration(self, node: Node) -> Iterator[Refusal]:
        source = node.source
        end = end_of_statement(source.text, node.start)
        words = list(tokens(source.text, node.start, end))
        name = "pthread_cond_t"
        kind = next(
            (
                w
                for w in words
                if w.text.decode() == name or names_type(source, w, name)
            ),
            None,
        )
        given = next((w for w in words if w.text == INITIALISER), None)
        equals = next((w for w in words if w.text == b"="), None)
        if kind is None or end < 0 or (equals and not given):
            yield node.refusal("the declaration of the condition variable is not plain")
            return
        self.edits.replace(source, kind.start, kind.end, CONDITION)
        if given:
            self.edits.replace(source, given.start, given.end, "{{0}}")


def _is_own(call: Node, section: Section, uses: Uses) -> bool:
    """Return true if a wait is in a section of its own lock."""
    same = call.source.path == section.source.path and section.inside(call.start)
    return same and key(call.children[2]) == uses.key(section.lock.call)


def _named(node: Node) -> Node | None:
    return next((each for each in node.walk() if each.kind in REFERENCES), None)


def _kind(cursor: Any) -> str:
    return str(cursor.type.get_declaration().spelling)
