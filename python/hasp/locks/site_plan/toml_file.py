# SPDX-License-Identifier: MIT
"""Reads and writes plans as TOML files, `hasp.plan.toml` by default.

    version = 1
    default = "futex"                 # for all other mutexes
    default_rwlock = "rw-ttas"        # for all other rwlocks; optional, as for
                                      # default_spinlock and default_barrier

    [[lock]]
    site = "db.c:88 &db->mu"          # for messages, and to find it in another build
    lock = "mcs"
    kind = "mutex"                    # or "rwlock", "barrier"
    module = "server"
    build_id = "9f3c..."              # optional
    offsets = [0x1234, 0x1300]        # return addresses, innermost first

A global has `address_offset` instead of `offsets`. Frames in several modules are
written as `frames = [{ module = ..., build_id = ..., offset = ... }, ...]`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from hasp.base.document import Document
from hasp.base.errors import HaspError
from hasp.locks import native
from hasp.locks.kinds import KINDS, MUTEX, SPINLOCK, Kind, kind_of
from hasp.locks.site_plan.model import (
    MAX_ENTRIES,
    MAX_FRAMES,
    Entry,
    Module,
    SitePlan,
)
from hasp.locks.site_plan.name import PREFIX

VERSION = 1
LOCK_KEYS = {"site", "lock", "kind", "module", "build_id"}
DEFAULT_KEYS = {kind: f"default_{kind.name}" for kind in KINDS} | {MUTEX: "default"}
WHERE_KEYS = {"offsets", "address_offset", "frames"}
BUILD_ID = re.compile(r"([0-9a-f]{2}){1,32}")
HIGHEST_OFFSET = 1 << 47


def load(path: Path) -> SitePlan:
    """Return the plan in a file. A HaspError names the file, the line and the key."""
    document = Document.read(path)
    return replace(_Reader(document).plan(), name=f"{PREFIX}{path}")


def save(plan: SitePlan, path: Path) -> None:
    """Write the plan to a file."""
    try:
        path.write_text(text_of(plan), encoding="utf-8")
    except OSError as problem:
        raise HaspError(
            f"{path} cannot be written: {problem.strerror}", "name another file"
        ) from None


def text_of(plan: SitePlan) -> str:
    """Return the plan as TOML."""
    lines = [
        "# A lock for each site of a program; `hasp run --plan` applies it.",
        f"version = {VERSION}",
    ]
    for name, lock in plan.defaults:
        lines.append(f"{DEFAULT_KEYS[kind_of(name)]} = {_quoted(lock)}")
    for entry in plan.entries:
        lines += ["", "[[lock]]", f"site = {_quoted(entry.site)}"]
        lines += [f"lock = {_quoted(entry.lock)}", f'kind = "{entry.kind}"']
        lines += _where(entry)
    return "\n".join(lines) + "\n"


def _where(entry: Entry) -> list[str]:
    ranges = entry.ranges
    if any(each.module != ranges[0].module for each in ranges):
        frames = ", ".join(
            f"{{ module = {_quoted(each.module.name)}, build_id = "
            f"{_quoted(each.module.build_id)}, offset = {each.first:#x} }}"
            for each in ranges
        )
        return [f"frames = [{frames}]"]
    module = ranges[0].module
    lines = [f"module = {_quoted(module.name)}"]
    if module.build_id:
        lines.append(f"build_id = {_quoted(module.build_id)}")
    if entry.address:
        return [*lines, f"address_offset = {entry.address.first:#x}"]
    offsets = ", ".join(f"{each.first:#x}" for each in ranges)
    return [*lines, f"offsets = [{offsets}]"]


def _quoted(text: str) -> str:
    """Return the text as a TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    plain = (char if char.isprintable() else f"\\U{ord(char):08x}" for char in escaped)
    return f'"{"".join(plain)}"'


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document

    def plan(self) -> SitePlan:
        document = self.document
        version = document.get(("version",))
        if version is None:
            document.fail(("version",), "is missing", f"write version = {VERSION}")
        if version != VERSION:
            document.fail(
                ("version",), f"must be {VERSION}", "use the Hasp that wrote the plan"
            )
        for key in document.data:
            if key not in ("version", "lock", *DEFAULT_KEYS.values()):
                document.fail((key,), "not a key of a plan", "remove it")
        defaults = {
            kind: self.lock(document.data, kind, key)
            for kind, key in DEFAULT_KEYS.items()
            if document.get((key,)) is not None
        }
        default = defaults.pop(MUTEX, None) or native.default_lock().name
        tables = document.get(("lock",)) or []
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            document.fail(("lock",), "not a list of tables", "write [[lock]]")
        if len(tables) > MAX_ENTRIES:
            document.fail(
                ("lock",), f"more than {MAX_ENTRIES} entries", "keep the busiest sites"
            )
        entries = tuple(self.entry(n, t) for n, t in enumerate(tables))
        others = tuple((kind.name, lock) for kind, lock in defaults.items())
        return SitePlan(entries, default, others=others)

    def entry(self, number: int, table: dict[str, Any]) -> Entry:
        for key in table:
            if key not in LOCK_KEYS | WHERE_KEYS:
                self.refuse(number, key, "not a key of a lock", "remove it")
        kind = self.kind(number, table)
        site = self.text(number, table, "site")
        if not site.isprintable():
            self.refuse(number, "site", "must be one line of text", "correct it")
        lock = self.lock(table, kind, "lock", number)
        where = WHERE_KEYS & table.keys()
        if len(where) != 1:
            self.refuse(
                number,
                next(iter(where), "site"),
                "an entry must have exactly one of offsets, address_offset and frames",
                "keep one of them, or let `hasp advise` write the plan",
            )
        if "frames" in where:
            frames = self.frames(number, table["frames"])
            return Entry.created_at(site, lock, frames, kind.name)
        module = self.module(number, table, "module")
        if "address_offset" in where:
            offset = self.offset(number, "address_offset", table["address_offset"])
            return Entry.of_global(site, lock, module, offset, kind.name)
        offsets = table["offsets"]
        self.check_depth(number, "offsets", offsets)
        frames = [(module, self.offset(number, "offsets", each)) for each in offsets]
        return Entry.created_at(site, lock, frames, kind.name)

    def kind(self, number: int, table: dict[str, Any]) -> Kind:
        value = table.get("kind", MUTEX.name)
        try:
            kind = kind_of(value if isinstance(value, str) else "")
        except HaspError as problem:
            self.refuse(number, "kind", problem.message, problem.remedy)
        if kind is SPINLOCK:
            self.refuse(
                number,
                "kind",
                "all spin locks of a program have the same algorithm",
                'remove the entry, and write default_spinlock = "..." at the top',
            )
        return kind

    def frames(self, number: int, frames: Any) -> list[tuple[Module, int]]:
        self.check_depth(number, "frames", frames)
        for frame in frames:
            if not isinstance(frame, dict):
                self.refuse(
                    number, "frames", "not a list of tables", "write { module = ... }"
                )
        return [
            (
                self.module(number, frame, "frames"),
                self.offset(number, "frames", frame.get("offset")),
            )
            for frame in frames
        ]

    def check_depth(self, number: int, key: str, frames: Any) -> None:
        if not isinstance(frames, list) or not 1 <= len(frames) <= MAX_FRAMES:
            self.refuse(
                number,
                key,
                f"must be a list of 1 to {MAX_FRAMES}",
                "keep the first",
            )

    def module(self, number: int, table: dict[str, Any], key: str) -> Module:
        name, build_id = table.get("module"), table.get("build_id", "")
        if (
            not isinstance(name, str)
            or "/" in name
            or not name.isprintable()
            or not name
        ):
            self.refuse(
                number, key, "module must be a file name", "write it without folders"
            )
        if not isinstance(build_id, str) or not BUILD_ID.fullmatch(build_id or "00"):
            self.refuse(
                number,
                "build_id" if "build_id" in table else key,
                "must be hexadecimal digits, as printed by `file` or `readelf -n`",
                "correct it, or leave it out",
            )
        return Module(name, build_id)

    def offset(self, number: int, key: str, value: Any) -> int:
        if type(value) is not int or not 0 <= value < HIGHEST_OFFSET:
            self.refuse(
                number, key, "must be an address in the module's file", "correct it"
            )
        return int(value)

    def text(self, number: int, table: dict[str, Any], key: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            self.refuse(number, key, "must be a string", f'write {key} = "..."')
        return str(value)

    def lock(
        self, table: dict[str, Any], kind: Kind, key: str, number: int | None = None
    ) -> str:
        """Return the name of an algorithm: that of an entry, or with None a default."""
        value = table.get(key)
        try:
            if not isinstance(value, str):
                raise HaspError("must be the name of a lock", "`hasp list` shows them")
            return native.lock(value, kind).name
        except HaspError as problem:
            remedy = problem.remedy
            if isinstance(problem, native.WrongKind):
                remedy = f"`hasp list --kind {kind.name}` shows the others"
                if number is not None:
                    remedy = (
                        f'write kind = "{problem.kind.name}" if it is one; {remedy}'
                    )
            if number is None:
                self.document.fail((key,), problem.message, remedy)
            self.refuse(number, key, problem.message, remedy)

    def refuse(self, number: int, key: str, message: str, remedy: str) -> NoReturn:
        line = self.document.line_in_list("lock", number, key)
        raise HaspError(
            f"{self.document.path}:{line}: lock {number + 1}: {key}: {message}", remedy
        )
