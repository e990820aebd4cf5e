# SPDX-License-Identifier: MIT
"""Plans that outlived the build that they were made for.

A file whose build-id is another one has its code elsewhere. A global is then found by
its name; another site by the line that it names, if that line still says the same. What
cannot be found is left out, with a note: its mutexes get the usual lock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hasp.locks.site_plan.model import MOST_ENTRIES, Entry, Module, Place, Plan

SITE = re.compile(r"(?:(?P<file>[^\s:]+):(?P<line>\d+))?\s*(?P<expression>.*)")
NAME = re.compile(r"&?\s*(\w+)")


def refreshed(plan: Plan, files: Mapping[str, Path]) -> tuple[Plan, list[str]]:
    """The plan for the files as they are now, and a note for each stale entry.

    `files` are by name; a module that is not among them may be loaded later, and the
    library checks its build-id then.
    """
    from hasp.locks.site_plan.modules import build_id

    now = {name: Module(name, build_id(path)) for name, path in files.items()}
    entries: list[Entry] = []
    notes: list[str] = []
    for entry in plan.entries:
        changed = [
            place.module.name
            for place in entry.places
            if place.module.build_id
            and now.get(place.module.name, place.module) != place.module
        ]
        if not changed:
            entries.append(entry)
            continue
        found = _again(entry, now[changed[0]], files[changed[0]])
        entries += found
        what = "found again by its name" if found else "left out"
        notes.append(
            f"plan: {entry.site}: {changed[0]} is another build than the plan's; {what}"
        )
    return replace(plan, entries=tuple(entries[:MOST_ENTRIES])), notes


def _again(entry: Entry, module: Module, file: Path) -> list[Entry]:
    from hasp.locks.site_plan.modules import code_of_line, variable

    site = SITE.fullmatch(entry.site)
    expression = site["expression"].strip() if site else ""
    if entry.address:
        name = NAME.fullmatch(expression)
        address = variable(file, name[1]) if name else None
        if address is None:
            return []
        return [Entry.lying_at(entry.site, entry.lock, module, address)]
    if not site or not site["file"] or not expression or len(entry.frames) > 1:
        return []
    ranges = code_of_line(file, site["file"], int(site["line"]), expression) or []
    # A return address lies behind its call, at most at the end of the line's code.
    return [
        replace(entry, frames=(Place(module, begin + 1, end),)) for begin, end in ranges
    ]
