# SPDX-License-Identifier: MIT
"""Writes plans in the format that libhasp.so reads (src/preload/plan_file.c).

    m BUILD-ID NAME                            a module; they are numbered from 0
    a KIND LOCK MODULE FIRST LAST SITE         objects at these addresses
    f KIND LOCK N (MODULE FIRST LAST)*N SITE   objects created through these N frames

KIND is `mutex`, `rwlock` or `barrier`. Addresses are hexadecimal and relative to the
module's file; an unknown build-id is `-`. HASP_LOCK, HASP_RWLOCK,
HASP_SPINLOCK and HASP_BARRIER name the defaults.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from hasp.base import user_cache
from hasp.base.errors import HaspError
from hasp.locks.site_plan.model import (
    MAX_ENTRIES,
    MAX_MODULES,
    AddressRange,
    Module,
    SitePlan,
)

MAX_BYTES = 1 << 16


def flatten(plan: SitePlan) -> str:
    """Return the text of the file. Raises HaspError if the plan is too large."""
    modules: dict[Module, int] = {}

    def range_of(one: AddressRange) -> str:
        number = modules.setdefault(one.module, len(modules))
        return f"{number} {one.first:x} {one.last:x}"

    lines = []
    for entry in plan.entries:
        what = f"{entry.kind} {entry.lock}"
        if entry.address:
            lines.append(f"a {what} {range_of(entry.address)} {entry.site}")
        else:
            frames = " ".join(map(range_of, entry.frames))
            lines.append(f"f {what} {len(entry.frames)} {frames} {entry.site}")
    heads = [f"m {module.build_id or '-'} {module.name}" for module in modules]
    text = "".join(f"{line}\n" for line in [*heads, *lines])
    if (
        len(lines) > MAX_ENTRIES
        or len(modules) > MAX_MODULES
        or len(text.encode()) >= MAX_BYTES
    ):
        raise HaspError(
            "the plan is too large: "
            f"{len(lines)} entries, {len(modules)} modules, {len(text)} characters",
            f"keep the busiest sites: at most {MAX_ENTRIES}, in {MAX_MODULES} modules",
        )
    return text


def write(plan: SitePlan) -> Path:
    """Write the plan to a file and return its path, for HASP_PLAN.

    This process becomes the program, so nothing can delete the file later. It is stored
    in the user's cache under a hash of its contents, so each plan has one file.
    """
    text = flatten(plan)
    home = user_cache.folder()
    name = f"plan-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    user_cache.write(name, text)
    if home is None or user_cache.read(name) != text:
        raise HaspError(
            "the plan cannot be written to the cache folder",
            "set XDG_CACHE_HOME to a writable folder that belongs to you",
        )
    return home / name
