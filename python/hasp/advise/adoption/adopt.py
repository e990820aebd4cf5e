# SPDX-License-Identifier: MIT
"""Carries out `hasp adopt`: reads a plan and the source, and prints what to change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.advise.adoption.rules import Rules
from hasp.advise.adoption.site_changes import Finder, SiteChanges
from hasp.advise.adoption.source_text import SourceText
from hasp.base import output
from hasp.base.errors import EXIT_FINE, HaspError
from hasp.base.source_files import LONGEST_FILE, source_files
from hasp.locks import native
from hasp.locks.kinds import kind_of
from hasp.locks.site_name import SITE, last_name
from hasp.locks.site_plan.model import Entry
from hasp.locks.site_plan.toml_file import load as load_plan
from hasp.profile.model.profile import Profile, Site

SCHEMA = "hasp.adopt/1"
CREATES = re.compile(
    r"\bpthread_\w+_(?:init|lock|rdlock|wrlock|trylock)\s*\(\s*([^,)]+)"
)
LINES_OF_A_CALL = 4


@dataclass(frozen=True)
class Options:
    """The options of `hasp adopt`."""

    plan: Path
    profile: Path | None = None
    source: Path = Path()
    json: str | None = None


@dataclass(frozen=True)
class Adoption:
    """A site of the plan and what to change for it."""

    entry: Entry
    result: SiteChanges


def adopt(options: Options) -> int:
    """Print the changes for every entry of a plan; return the exit status.

    Raises HaspError if the plan, the profile or the source cannot be read, or if the
    plan has no entries.
    """
    plan = load_plan(options.plan)
    if not plan.entries:
        raise HaspError(
            f"{options.plan} has no entry for a site",
            "`hasp advise --write TRACE` writes a plan with the sites that need one",
        )
    profile = _profile(options.profile) if options.profile else None
    tree = SourceTree(options.source)
    adoptions = [
        Adoption(entry, changes_for(entry, tree, profile))
        for entry in dict.fromkeys(plan.entries)
    ]
    if options.json:
        output.write_json(map(_record, adoptions), options.json)
    else:
        print("\n\n".join(_text(adoption) for adoption in adoptions))
        if any(adoption.result.changes for adoption in adoptions):
            print(
                "\nNothing has been changed. Compile with: "
                "$(pkg-config --cflags --libs hasp), or see `hasp config`."
            )
    return EXIT_FINE


def _profile(path: Path) -> Profile:
    # Imported here because it takes 0.3 s.
    from hasp.profile.model.build import load

    return load(path)


class SourceTree:
    """The C and C++ files below a folder."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise HaspError(
                f"{folder} is not a folder",
                "name the folder of the source: --source DIR",
            )
        self.folder = folder
        remedy = "name the program's own folder: --source DIR"
        self.paths = sorted(source_files(folder, remedy))
        self._read: dict[Path, SourceText] = {}

    def text(self, path: Path) -> SourceText:
        """Return a file. Raises HaspError if it cannot be read."""
        if path not in self._read:
            try:
                text = ""
                if path.stat().st_size <= LONGEST_FILE:
                    text = path.read_text(encoding="utf-8", errors="replace")
            except OSError as problem:
                raise HaspError(
                    f"cannot read {path}: {problem.strerror}", "make it readable"
                ) from None
            self._read[path] = SourceText(path, text)
        return self._read[path]

    def named(self, name: str) -> list[Path]:
        """Return the files that a site's file name, or its path, can mean."""
        parts = Path(name).parts
        return [path for path in self.paths if path.parts[-len(parts) :] == parts]


def changes_for(entry: Entry, tree: SourceTree, profile: Profile | None) -> SiteChanges:
    """Return what to change for an entry; remarks tell why there is nothing."""
    result = SiteChanges()
    algorithm = native.lock(entry.lock, kind_of(entry.kind))
    if algorithm.is_reference:
        result.remark("stays as it is: glibc's own")
        return result
    if algorithm.is_elided:
        result.remark("the library has no elision: only `hasp run --plan` elides locks")
        return result
    site = SITE.fullmatch(entry.site)
    if not site:
        result.remark(
            "the plan does not know its source line: compile the program with -g, "
            "profile it again, and let `hasp advise --write` write the plan"
        )
        return result
    path = _file(entry, site["file"], tree, profile, result)
    if path is None:
        return result
    home = tree.text(path)
    name = last_name(site["expression"] or _expression(home, int(site["line"])))
    if not name:
        result.remark(
            f"{path}:{site['line']} names no lock: the source is not the one that was"
            " profiled"
        )
        return result
    others = [tree.text(each) for each in tree.paths]
    return Finder(Rules(entry.kind, entry.lock), name).search(home, others)


def _file(
    entry: Entry,
    name: str,
    tree: SourceTree,
    profile: Profile | None,
    result: SiteChanges,
) -> Path | None:
    """Return the source file of an entry, or None after a remark."""
    candidates = tree.named(name)
    full = _recorded(entry, name, profile.sites) if profile else None
    if len(candidates) > 1 and full:
        tails = [path for path in candidates if Path(full) == path.resolve()]
        candidates = tails or candidates
    if not candidates and full and Path(full).is_file():
        candidates = [Path(full)]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        result.remark(
            f"{name} is not below {tree.folder}: name its folder, --source DIR"
        )
    else:
        several = ", ".join(str(path) for path in candidates[:4])
        result.remark(
            f"{name} may be any of {several}: name a folder with one of them, --source"
            " DIR, or the profile, --profile TRACE"
        )
    return None


def _recorded(entry: Entry, name: str, sites: Sequence[Site]) -> str | None:
    """Return the path that the debug information of the profiled program has."""
    for site in sites:
        if site.name == entry.site:
            for frame in (*site.created, *site.first):
                if frame.file and Path(frame.file).name == Path(name).name:
                    return frame.file
    return None


def _expression(home: SourceText, line: int) -> str:
    """Return the lock that a call at this line is given."""
    lines = home.code.split("\n")[line - 1 : line - 1 + LINES_OF_A_CALL]
    found = CREATES.search("\n".join(lines))
    return found[1] if found else ""


def _record(adoption: Adoption) -> dict[str, Any]:
    entry, result = adoption.entry, adoption.result
    return {
        "schema": SCHEMA,
        "site": entry.site,
        "kind": entry.kind,
        "lock": entry.lock,
        "headers": sorted(result.headers),
        "changes": [
            {
                "file": str(change.path),
                "line": change.line,
                "before": change.before,
                "after": change.after,
            }
            for change in result.changes
        ],
        "remarks": result.remarks,
    }


def _text(adoption: Adoption) -> str:
    entry, result = adoption.entry, adoption.result
    lines = [f"{output.printable(entry.site)}: {entry.kind}, {entry.lock}"]
    files = sorted({str(change.path) for change in result.changes})
    for header in sorted(result.headers):
        lines.append(f"  include <{header}> in {', '.join(files)}")
    for change in result.changes:
        lines.append(f"  {change.path}:{change.line}")
        lines += [f"    - {line.strip()}" for line in change.before.split("\n")]
        lines += [f"    + {line.strip()}" for line in change.after.split("\n")]
    lines += [f"  note: {remark}" for remark in result.remarks]
    return "\n".join(map(output.printable, lines))
