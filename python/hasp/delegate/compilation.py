# SPDX-License-Identifier: MIT
"""Compiling the program before and after: no error, and no new warning."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.progress import Display
from hasp.delegate.compile_database import DROPPED_WITH_VALUE, Command
from hasp.delegate.syntax import Unit, shown
from hasp.locks.library import settings

DIAGNOSTIC = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?P<kind>warning|error|fatal error): "
    r"(?P<words>.*)$",
    re.MULTILINE,
)
FOLDER_OPTIONS = ("-I", "-isystem", "-iquote", "-idirafter")
OUTPUTS = ("-c", "-S", "-E", "-MD", "-MMD", "-MP", "-M", "-MM")
TIMEOUT = 600  # seconds for one file


class Mirror:
    """Copies of the changed files beside links to the others, below a folder."""

    def __init__(self, folder: Path, contents: Mapping[Path, bytes]) -> None:
        self.folder = folder
        self._contents = contents

    def path(self, original: Path) -> Path:
        """Return where a file is in the mirror."""
        return Path(f"{self.folder}{original}")

    def add(self, unit: Unit) -> None:
        """Add the files of a unit."""
        for file in (*unit.files, unit.command.directory / "."):
            copy = self.path(file)
            if file.is_dir():
                copy.mkdir(parents=True, exist_ok=True)
            elif not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                if file in self._contents:
                    copy.write_bytes(self._contents[file])
                else:
                    copy.symlink_to(file)

    def words(self, command: Command) -> list[str]:
        """Return the words of a command with the folders of the mirror first."""
        result: list[str] = []
        words = iter(_compile_words(command))
        for word in words:
            option = next((o for o in FOLDER_OPTIONS if word.startswith(o)), None)
            if option:
                value = word[len(option) :] or next(words, "")
                folder = (command.directory / value).resolve()
                result += [option, str(self.path(folder)), option, str(folder)]
            elif (command.directory / word).resolve() == command.file:
                absolute = Path(word).is_absolute()
                result.append(str(self.path(command.file)) if absolute else word)
            else:
                result.append(word)
        return result


def _compile_words(command: Command) -> list[str]:
    """Return a command without what concerns its output."""
    result = []
    words = iter(command.arguments)
    for word in words:
        if word in DROPPED_WITH_VALUE and word != "-x":
            next(words, "")
        elif word not in OUTPUTS:
            result.append(word)
    return result


def check_compiles(units: Sequence[Unit], contents: Mapping[Path, bytes]) -> None:
    """Compile the affected files before and after the rewriting.

    Raises HaspError if one does not compile, or if the compiler warns of something new.
    """
    with (
        tempfile.TemporaryDirectory(prefix="hasp-delegate-") as name,
        Display() as show,
    ):
        folder = Path(name).resolve()
        mirror = Mirror(folder / "after", contents)
        for unit in units:
            mirror.add(unit)
        output = folder / "object.o"
        flags = shlex.split(settings()["cflags"])
        for done, unit in enumerate(units):
            command = unit.command
            show.show_words(
                f"compiling {shown(command.spelled)} ({done + 1} of {len(units)})"
            )
            words = [*_compile_words(command), *flags]
            before = _run(words, command.directory, output)
            words = [*mirror.words(command), *flags]
            after = _run(words, mirror.path(command.directory), output)
            _compare(command, before, after, mirror)


def _run(words: Sequence[str], directory: Path, output: Path) -> tuple[int, str]:
    try:
        done = subprocess.run(
            [*words, "-c", "-o", str(output)],
            cwd=directory,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            timeout=TIMEOUT,
        )
    except FileNotFoundError:
        raise HaspError(
            f"the compiler {words[0]} is not installed", "install it"
        ) from None
    except subprocess.TimeoutExpired:
        raise HaspError(
            f"compiling takes more than {TIMEOUT} s: {' '.join(words[:3])} ...",
            "leave the check out: --no-compile",
        ) from None
    return done.returncode, done.stderr


def _compare(
    command: Command, before: tuple[int, str], after: tuple[int, str], mirror: Mirror
) -> None:
    if before[0]:
        raise HaspError(
            f"{shown(command.spelled)} does not compile, before any change:\n"
            f"{_first_lines(before[1])}",
            "mend it, or the compile database",
        )
    if after[0]:
        text = after[1].replace(str(mirror.folder), "")
        raise HaspError(
            f"{shown(command.spelled)} does not compile after the rewriting:\n"
            f"{_first_lines(text)}",
            "nothing has been changed; the source has something that the rewriting "
            "does not know",
        )
    new = _warnings(after[1]) - _warnings(before[1])
    if new:
        listed = "\n".join(f"  {file}: {words}" for file, words in sorted(new))
        raise HaspError(
            f"the compiler warns of something new after the rewriting:\n{listed}",
            "nothing has been changed; write the section in another way, or accept "
            "it: --no-compile",
        )


def _warnings(text: str) -> Counter[tuple[str, str]]:
    return Counter(
        (Path(found["file"]).name, found["words"])
        for found in DIAGNOSTIC.finditer(text)
        if found["kind"] == "warning"
    )


def _first_lines(text: str) -> str:
    lines = text.strip().splitlines()
    return "\n".join(f"  {line}" for line in lines[:8])
