# SPDX-License-Identifier: MIT
"""Open a written page in the user's browser."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from hasp.base.output import note

REMOTE = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
OPENER = "xdg-open"


def open_page(page: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Open the page if there is a browser, and say where it is."""
    command = _command(page.resolve(), environment)
    if command is not None and _started(command):
        note(f"{page} is opened in the browser")
    else:
        note(f"{page.resolve()} is the page; no browser can be opened from here")


def _command(page: Path, environment: Mapping[str, str]) -> list[str] | None:
    """Return the command that opens the page; None over ssh, or without a browser."""
    if any(environment.get(name) for name in REMOTE):
        return None
    for browser in environment.get("BROWSER", "").split(":"):
        words = shlex.split(browser)
        if words and shutil.which(words[0], path=environment.get("PATH")):
            if "%s" in browser:
                return [word.replace("%s", str(page)) for word in words]
            return [*words, str(page)]
    opener = shutil.which(OPENER, path=environment.get("PATH"))
    if opener and any(environment.get(name) for name in DISPLAYS):
        return [opener, str(page)]
    return None


def _started(command: list[str]) -> bool:
    """Start the browser in a session of its own, so that it outlives Hasp."""
    try:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True
