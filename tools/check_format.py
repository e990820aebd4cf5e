#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the format of every source file, or reformat it with --fix.

Python by `ruff format`. C by these rules: no tabs, no trailing blanks, a newline at the
end, at most 88 columns, and an SPDX line at the top. `--fix` also runs clang-format,
if installed, on the C files named on the command line.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sources import C_SUFFIXES, PYTHON_SUFFIXES, ROOT, Finding, files, report

FOLDERS = ("src", "include", "python", "tools", "tests")
MOST_COLUMNS = 88


def check_text(path: Path, text: str) -> Iterator[Finding]:
    lines = text.split("\n")
    if lines[-1] != "":
        yield Finding(path, len(lines), "no newline at the end of the file")
    head = "\n".join(lines[:3])
    if text.strip() and "SPDX-License-Identifier: MIT" not in head:
        yield Finding(path, 1, "no SPDX-License-Identifier: MIT in the first lines")
    if path.suffix in PYTHON_SUFFIXES:
        return  # ruff checks the rest
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield Finding(path, number, "a tab: indent with 4 spaces")
        if line != line.rstrip():
            yield Finding(path, number, "blanks at the end of the line")
        if len(line) > MOST_COLUMNS:
            yield Finding(path, number, f"{len(line)} columns, at most {MOST_COLUMNS}")


def find_ruff() -> str | None:
    """Find ruff on PATH, beside this Python, or in the folder of `make setup`."""
    places = (
        os.environ.get("PATH", ""),
        Path(sys.executable).parent,
        ROOT / ".venv/bin",
    )
    return shutil.which("ruff", path=os.pathsep.join(map(str, places)))


def ruff_format(root: Path, fix: bool) -> int:
    ruff = find_ruff()
    if ruff is None:
        print("check_format: ruff is missing: run `make setup`", file=sys.stderr)
        return 1
    folders = [str(root / name) for name in FOLDERS if (root / name).is_dir()]
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    mode = [] if fix else ["--check"]
    return subprocess.run([ruff, "format", *config, *mode, *folders]).returncode


def clang_format(paths: list[Path]) -> int:
    tool = shutil.which("clang-format")
    if tool is None:
        print(
            "check_format: clang-format is not installed: C files stay unchanged",
            file=sys.stderr,
        )
        return 0
    return subprocess.run([tool, "-i", *map(str, paths)]).returncode if paths else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--fix", action="store_true", help="reformat instead of checking"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to check")
    parser.add_argument("c_file", nargs="*", type=Path, help="C files for --fix")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if arguments.fix and clang_format(arguments.c_file) != 0:
        return 1
    status = ruff_format(root, arguments.fix)
    findings = [
        finding
        for path in files(root, FOLDERS, C_SUFFIXES + PYTHON_SUFFIXES)
        for finding in check_text(path, path.read_text(encoding="utf-8"))
    ]
    return report(root, findings) or (1 if status else 0)


if __name__ == "__main__":
    sys.exit(main())
