# SPDX-License-Identifier: MIT
"""A plan as libhasp.so reads it: lines of numbers and names (src/preload/plan.c).

    m BUILD-ID NAME                       a module; they are numbered from 0
    a LOCK MODULE FIRST LAST SITE         mutexes that lie between these addresses
    f LOCK N (MODULE FIRST LAST)*N SITE   mutexes that are made through these N frames

Addresses are hexadecimal and of the module's file; a build-id that is not known is `-`.
The default lock is HASP_LOCK's.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from hasp.base import user_cache
from hasp.base.errors import HaspError
from hasp.locks.site_plan.model import MOST_ENTRIES, MOST_MODULES, Module, Place, Plan

MOST_BYTES = 1 << 16


def flatten(plan: Plan) -> str:
    """The lines."""
    modules: dict[Module, int] = {}

    def range_of(place: Place) -> str:
        number = modules.setdefault(place.module, len(modules))
        return f"{number} {place.first:x} {place.last:x}"

    lines = []
    for entry in plan.entries:
        if entry.address:
            lines.append(f"a {entry.lock} {range_of(entry.address)} {entry.site}")
        else:
            frames = " ".join(map(range_of, entry.frames))
            lines.append(f"f {entry.lock} {len(entry.frames)} {frames} {entry.site}")
    heads = [f"m {module.build_id or '-'} {module.name}" for module in modules]
    text = "".join(f"{line}\n" for line in [*heads, *lines])
    if (
        len(lines) > MOST_ENTRIES
        or len(modules) > MOST_MODULES
        or len(text.encode()) >= MOST_BYTES
    ):
        raise HaspError(
            "the plan is too large: "
            f"{len(lines)} entries, {len(modules)} modules, {len(text)} characters",
            f"keep the busiest sites, at most {MOST_ENTRIES} of {MOST_MODULES} modules",
        )
    return text


def write(plan: Plan) -> Path:
    """A file with these lines, for HASP_PLAN.

    It must outlast this process, which becomes the program; so it lies in the user's
    cache under the name of its contents, and the same plan has one file.
    """
    text = flatten(plan)
    home = user_cache.folder()
    name = f"plan-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    user_cache.write(name, text)
    if home is None or user_cache.read(name) != text:
        raise HaspError(
            "the plan cannot be written where the program would read it",
            "let XDG_CACHE_HOME name a folder of your own that can be written",
        )
    return home / name
