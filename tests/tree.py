# SPDX-License-Identifier: MIT
"""Copies the source tree with another list of locks, and builds the copies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from list_entries import only
from lock_list import ROOT


def copy_tree(tree: Path) -> Path:
    """Copy the sources of the native parts; return the copy's locks.def."""
    tree.mkdir()
    for name in ("meson.build", "meson.options", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    for name in ("src", "include", "tools"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name)
    return tree / "src/locks/locks.def"


def keep_only(listing: Path, *names: str) -> None:
    """Remove every other lock from the list; the headers stay."""
    listing.write_text(only(listing.read_text(), *names))


def build(tree: Path, *names: str, options: tuple[str, ...] = ()) -> Path:
    """Build these programs and libraries, and return the build folder."""
    folder = tree / "build"
    tools = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("meson", "setup", folder, tree, "-Dtests=false", "-Dpython=false", *options)
    known = run("ninja", "-C", folder, "-t", "targets", "all").splitlines()
    paths = [line.partition(":")[0] for line in known]
    run("ninja", "-C", folder, *(path for path in paths if Path(path).name in names))
    return folder
