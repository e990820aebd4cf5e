# SPDX-License-Identifier: MIT
"""Adapts plans to other builds of the files that they were made for.

If a file has another build-id, its code is at other addresses. A global is then found
by its name, any other site by its source line, if the line still contains the
expression of the site. Entries that cannot be found are left out, with a note; their
objects get the default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hasp.locks.site_plan.model import (
    MAX_ENTRIES,
    AddressRange,
    Entry,
    Module,
    SitePlan,
)
from hasp.locks.site_plan.modules import build_id, code_of_line, variable

SITE = re.compile(r"(?:(?P<file>[^\s:]+):(?P<line>\d+))?\s*(?P<expression>.*)")
NAME = re.compile(r"&?\s*(\w+)")


def refreshed(plan: SitePlan, files: Mapping[str, Path]) -> tuple[SitePlan, list[str]]:
    """Return the plan adapted to the files, and a note for each stale entry.

    `files` are by name. A module that is not among them may be loaded later; libhasp.so
    then checks its build-id. A module of the plan without a build-id gets that of the
    file, because libhasp.so may know the file by another name: that of a symbolic link.
    """
    now = {name: Module(name, build_id(path)) for name, path in files.items()}
    entries: list[Entry] = []
    notes: list[str] = []
    for entry in plan.entries:
        changed = [
            one.module.name
            for one in entry.ranges
            if one.module.build_id
            and now.get(one.module.name, one.module) != one.module
        ]
        if not changed:
            entries.append(_with_build_ids(entry, now))
            continue
        found = _again(entry, now[changed[0]], files[changed[0]])
        entries += found
        what = "located it by name" if found else "left it out"
        notes.append(
            f"plan: {entry.site}: {changed[0]} is not the build of the plan; {what}"
        )
    return replace(plan, entries=tuple(entries[:MAX_ENTRIES])), notes


def _with_build_ids(entry: Entry, now: Mapping[str, Module]) -> Entry:
    def known(one: AddressRange) -> AddressRange:
        module = one.module
        if module.build_id or not now.get(module.name, module).build_id:
            return one
        return replace(one, module=now[module.name])

    return replace(
        entry,
        frames=tuple(map(known, entry.frames)),
        address=known(entry.address) if entry.address else None,
    )


def _again(entry: Entry, module: Module, file: Path) -> list[Entry]:
    site = SITE.fullmatch(entry.site)
    expression = site["expression"].strip() if site else ""
    if entry.address:
        name = NAME.fullmatch(expression)
        address = variable(file, name[1]) if name else None
        if address is None:
            return []
        return [replace(entry, address=AddressRange.at(module, address))]
    if not site or not site["file"] or not expression or len(entry.frames) > 1:
        return []
    ranges = code_of_line(file, site["file"], int(site["line"]), expression) or []
    # A return address follows its call, at the latest at the end of the line's code.
    return [
        replace(entry, frames=(AddressRange(module, begin + 1, end),))
        for begin, end in ranges
    ]
