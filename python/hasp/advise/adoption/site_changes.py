# SPDX-License-Identifier: MIT
"""The lines to change for the objects of one site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hasp.advise.adoption.rules import Rules, condition_call
from hasp.advise.adoption.source_text import Call, Change, Replacement, SourceText
from hasp.locks.site_name import last_name as named

HEADERS = (".h", ".hh", ".hpp", ".hxx")
GUARDS = r"std::(?:lock_guard|unique_lock|scoped_lock)"


@dataclass
class SiteChanges:
    """What to change for one site."""

    headers: set[str] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def remark(self, text: str) -> None:
        if text and text not in self.remarks:
            self.remarks.append(text)


class Finder:
    """Finds the lines that declare and use an object, and rewrites them."""

    def __init__(self, rules: Rules, name: str) -> None:
        self.rules = rules
        self.name = name
        self.found = SiteChanges()
        self._wanted: dict[SourceText, list[Replacement]] = {}
        self._conditions: set[str] = set()

    def search(self, home: SourceText, others: Sequence[SourceText]) -> SiteChanges:
        """Return the changes in the file of the site, and in those that share it.

        An object that the file of the site declares for itself is searched only there.
        """
        if not re.search(rf"\b{self.name}\b", home.code):
            self.found.remark(
                f"{home.path} does not contain {self.name}: it is not the source that"
                " was profiled"
            )
            return self.found
        sources = [home, *(each for each in others if each.path != home.path)]
        sources = [each for each in sources if self.name in each.code]
        declaring = [each for each in sources if self._declares(each)]
        if not declaring:
            self.found.remark(
                f"no declaration of {self.name} as a pthread or C++ type was found:"
                " if a macro or a type of the program wraps it, change that"
            )
        if home in declaring and home.path.suffix not in HEADERS:
            sources, declaring = [home], [home]
        for source in sources:
            self._calls(source)
        for source in sources:
            self._condition_calls(source)
            self._declarations(source)
        if len(declaring) > 1:
            places = ", ".join(each.path.name for each in declaring)
            self.found.remark(
                f"several files declare {self.name} ({places}): leave out those lines"
                " that are about another one"
            )
        for source, wanted in self._wanted.items():
            self.found.changes += source.changes(wanted)
        return self.found

    def _declares(self, source: SourceText) -> bool:
        types = rf"(?:pthread_{self.rules.kind}_t|std::(?:timed_)?mutex)"
        pattern = rf"\b{types}\s[^;(){{}}]*\b{self.name}\b"
        return re.search(pattern, source.code) is not None

    def _put(self, source: SourceText, begin: int, end: int, text: str) -> None:
        self._wanted.setdefault(source, []).append(Replacement(begin, end, text))

    def _calls(self, source: SourceText) -> None:
        for call in source.calls():
            if call.name.startswith(f"pthread_{self.rules.kind}_"):
                if named(call.arguments[0]) == self.name:
                    self._rewrite(source, call, *self.rules.call(call))
            elif call.name.startswith("pthread_cond_"):
                if len(call.arguments) > 1 and named(call.arguments[1]) == self.name:
                    self._conditions.add(named(call.arguments[0]))
                    self._rewrite(source, call, *self.rules.call(call))
            elif not call.name.startswith("hasp_") and any(
                self._passes(argument) for argument in call.arguments
            ):
                self.found.remark(
                    f"{source.path.name}:{source.line_of(call.begin)} passes it to"
                    f" {call.name}(), whose parameter becomes a {self.rules.type} *"
                )

    def _passes(self, argument: str) -> bool:
        return (
            argument.startswith("&")
            and "(" not in argument
            and (named(argument) == self.name)
        )

    def _rewrite(self, source: SourceText, call: Call, text: str, remark: str) -> None:
        place = f"{source.path.name}:{source.line_of(call.begin)}: "
        self.found.remark(place + remark if remark else "")
        if text:
            self.found.headers.add(self.rules.header)
            self._put(source, call.begin, call.end, text)

    def _condition_calls(self, source: SourceText) -> None:
        for call in source.calls():
            if (
                call.name.startswith("pthread_cond_")
                and "wait" not in call.name
                and named(call.arguments[0]) in self._conditions
            ):
                self._rewrite(source, call, *condition_call(call))

    def _declarations(self, source: SourceText) -> None:
        self._declaration(source, self.name, self.rules.kind, self.rules.type)
        for condition in sorted(self._conditions):
            self._declaration(source, condition, "cond", "struct hasp_condition")
        pattern = rf"\bstd::(?:timed_)?mutex(?=\s+{self.name}\b)"
        guards = rf"{GUARDS}\s*<\s*(std::(?:timed_)?mutex)\s*>(?=[^;]*\b{self.name}\b)"
        for found in re.finditer(pattern, source.code):
            self.found.headers.add("hasp/mutex.hpp")
            self._put(source, found.start(), found.end(), self.rules.cxx_type)
            if not self.rules.identifier:
                self.found.remark(f'construct it with "{self.rules.lock}"')
        for found in re.finditer(guards, source.code):
            self._put(source, found.start(1), found.end(1), self.rules.cxx_type)

    def _declaration(self, source: SourceText, name: str, kind: str, new: str) -> None:
        pattern = rf"\b(pthread_{kind}_t)\b([^;(){{}}]*\b{name}\b[^;]*);"
        for found in re.finditer(pattern, source.code):
            self._put(source, *found.span(1), new)
            self.found.headers.add(self.rules.header)
            declared = re.sub(r"=\s*\{[^}]*\}|\[[^\]]*\]", "", found[2])
            if "," in declared:
                self.found.remark(
                    f"{source.path.name}:{source.line_of(found.start())} declares"
                    f" several objects: {name} needs a declaration of its own"
                )
            self._initialiser(source, found.start(2), found[2], kind)

    def _initialiser(self, source: SourceText, at: int, text: str, kind: str) -> None:
        for found in re.finditer(r"\bPTHREAD_\w*INITIALIZER\w*", text):
            begin, end = at + found.start(), at + found.end()
            name = "CONDITION" if kind == "cond" else kind.upper()
            self._put(source, begin, end, f"HASP_{name}_INITIALIZER")
            if found[0].endswith("_NP"):
                self.found.remark(f"{found[0]} has no counterpart")
            elif kind != "cond" and self.rules.needs_init:
                self.found.remark(
                    "the initialiser selects the default algorithm: before the first"
                    f' use, call {self.rules.prefix}_init(..., "{self.rules.lock}")'
                )
