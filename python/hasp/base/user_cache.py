# SPDX-License-Identifier: MIT
"""A folder of the user's own for what is worth keeping between two commands."""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path


def _usable(folder: Path) -> bool:
    """Whether the folder is, or can be made, ours alone to write to."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat()
    except OSError:
        return False
    # In a shared /tmp somebody else could have prepared it, or a link in its place.
    return (
        stat.S_ISDIR(facts.st_mode)
        and facts.st_uid == os.geteuid()
        and not facts.st_mode & 0o022
        and os.access(folder, os.W_OK | os.X_OK)
    )


def candidates() -> list[Path]:
    """The folders to try, the best first."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    temporary = os.environ.get("TMPDIR") or "/tmp"
    return [Path(home) / "hasp", Path(temporary) / f"hasp-{os.geteuid()}"]


@cache
def folder() -> Path | None:
    """The first usable folder: the user's cache, else one below the temporary files."""
    return next((path for path in candidates() if _usable(path)), None)


def write(name: str, text: str) -> None:
    """Replace one file of the folder at once; a full or read-only disk is no error."""
    home = folder()
    if home is None:
        return
    temporary = home / f"{name}.{os.getpid()}"
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(home / name)
    except OSError:
        temporary.unlink(missing_ok=True)


def read(name: str) -> str | None:
    """The text of one file of the folder, if it is there."""
    home = folder()
    try:
        return (home / name).read_text(encoding="utf-8") if home else None
    except (OSError, ValueError):
        return None
