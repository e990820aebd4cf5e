# SPDX-License-Identifier: MIT
"""A private folder of the user for files that persist between commands."""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path


def _usable(folder: Path) -> bool:
    """Return true if only this user can write to the folder, creating it if missing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat()
    except OSError:
        return False
    # In a shared /tmp, another user may have created the folder or a symbolic link.
    return (
        stat.S_ISDIR(facts.st_mode)
        and facts.st_uid == os.geteuid()
        and not facts.st_mode & 0o022
        and os.access(folder, os.W_OK | os.X_OK)
    )


def candidates() -> list[Path]:
    """Return the folders to try, the preferred one first.

    All are absolute, because programs read files there from folders of their own. The
    home of a user without HOME who is not in /etc/passwd remains `~`.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    usual = Path(os.path.expanduser("~/.cache"))  # noqa: PTH111
    home = given if given.is_absolute() else usual
    temporary = Path(os.environ.get("TMPDIR") or "/tmp")
    folders = home / "hasp", temporary / f"hasp-{os.geteuid()}"
    return [one for one in folders if one.is_absolute()]


@cache
def folder() -> Path | None:
    """Return the user's cache folder, or one in the temporary folder, or None."""
    return next((path for path in candidates() if _usable(path)), None)


def write(name: str, text: str) -> None:
    """Replace a file of the folder atomically; ignores full and read-only disks."""
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
    """Return the text of a file of the folder; None if it cannot be read."""
    home = folder()
    try:
        return (home / name).read_text(encoding="utf-8") if home else None
    except (OSError, ValueError):
        return None
