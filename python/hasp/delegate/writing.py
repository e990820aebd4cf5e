# SPDX-License-Identifier: MIT
"""Writing the changed files: all of them, or none."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.files import explained

BACKUP = ".orig"


def write_copies(contents: Mapping[Path, bytes], root: Path, folder: Path) -> None:
    """Write the changed files below a folder."""
    targets = {
        folder / path.relative_to(root): content for path, content in contents.items()
    }
    for target in targets:
        if target.resolve() in contents:
            raise HaspError(
                f"{target} is the source itself", "name another folder, or --in-place"
            )
        with explained(target):
            target.parent.mkdir(parents=True, exist_ok=True)
    _write_all(targets)


def write_in_place(contents: Mapping[Path, bytes]) -> dict[Path, Path | None]:
    """Replace the sources; return the backup of each, None for one that git has.

    A file that git tracks must not have uncommitted changes, and gets no backup; the
    original of any other file is kept as FILE.orig. Raises HaspError if that is not
    possible; no file has changed then.
    """
    backups: dict[Path, Path | None] = {}
    for path in contents:
        state = git_state(path)
        if state == "dirty":
            raise HaspError(
                f"{path} has changes that are not committed",
                "commit or stash them first, or write elsewhere: --out DIR",
            )
        backup = path.with_name(path.name + BACKUP)
        if state != "clean" and backup.exists():
            raise HaspError(
                f"{backup} exists: it would be the backup of {path.name}",
                "move it away first",
            )
        backups[path] = None if state == "clean" else backup
    copies = {backup: path.read_bytes() for path, backup in backups.items() if backup}
    _write_all({**copies, **contents})
    return backups


def git_state(path: Path) -> str:
    """Return "clean" or "dirty" for a file that git tracks, "" for any other."""
    command = ["git", "status", "--porcelain=v1", "--ignored", "--", path.name]
    tracked = ["git", "ls-files", "--error-unmatch", "--", path.name]
    try:
        known = subprocess.run(tracked, cwd=path.parent, capture_output=True)
        if known.returncode:
            return ""
        done = subprocess.run(command, cwd=path.parent, capture_output=True)
    except OSError:
        return ""
    return "dirty" if done.stdout.strip() or done.returncode else "clean"


def _write_all(contents: Mapping[Path, bytes]) -> None:
    """Write all files beside their targets, then rename them one after the other."""
    ready: list[tuple[Path, Path]] = []
    try:
        for number, (path, content) in enumerate(contents.items()):
            unfinished = path.with_name(f".hasp-{os.getpid()}-{number}{path.suffix}")
            ready.append((unfinished, path))
            with explained(path):
                unfinished.write_bytes(content)
                if path.exists():
                    unfinished.chmod(path.stat().st_mode & 0o7777)
        while ready:
            with explained(ready[0][1]):
                ready[0][0].replace(ready[0][1])
            ready.pop(0)
    finally:
        for unfinished, _ in ready:
            with suppress(OSError):
                unfinished.unlink()
