# SPDX-License-Identifier: MIT
"""Compile databases: the command that compiles each source file."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError

NAME = "compile_commands.json"
USUAL_FOLDERS = (Path(), Path("build"))
REMEDY = (
    "Meson writes it; CMake does with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; for make: "
    "bear -- make"
)
# Options of the program's compiler that change what the source means, and so have to
# reach libclang. Those of the second kind may have their value in the next word.
KEPT_PREFIXES = ("-std=", "-m", "-fshort-", "-funsigned-", "-fsigned-", "-pthread")
KEPT_WITH_VALUE = (
    *("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"),
)
# Options whose value is the next word, and which only concern the output.
DROPPED_WITH_VALUE = ("-o", "-MF", "-MT", "-MQ", "-x", "-Xlinker", "-L", "-l")


@dataclass(frozen=True)
class Command:
    """The command that compiles a file."""

    file: Path  # absolute
    directory: Path
    arguments: tuple[str, ...]
    spelled: str  # the file as the command names it

    @property
    def compiler(self) -> str:
        """The compiler, without a wrapper in front of it such as ccache."""
        words = [word for word in self.arguments[:2] if not word.startswith("-")]
        if len(words) > 1 and Path(words[0]).name in ("ccache", "distcc", "sccache"):
            return words[1]
        return words[0] if words else "cc"

    @property
    def options(self) -> list[str]:
        """The options that libclang needs."""
        kept = []
        words = iter(self.arguments[1:])
        for word in words:
            if word in KEPT_WITH_VALUE:
                kept += [word, next(words, "")]
            elif word in DROPPED_WITH_VALUE:
                next(words, "")
            elif word.startswith((*KEPT_PREFIXES, *KEPT_WITH_VALUE)):
                kept.append(word)
        return kept


def find() -> Path:
    """Return the database of the current folder, or of its folder `build`.

    Raises HaspError if neither has one.
    """
    for folder in USUAL_FOLDERS:
        if (database := folder / NAME).is_file():
            return database
    raise HaspError(
        f"there is no {NAME} here or in build/",
        f"name its folder, -p BUILD; {REMEDY}",
    )


def load(path: Path) -> list[Command]:
    """Return the commands of a database: a file, or the folder that has one.

    Raises HaspError if there is none, if it is damaged, or if a file that it names does
    not exist.
    """
    database = path / NAME if path.is_dir() else path
    try:
        entries = json.loads(database.read_text(encoding="utf-8"))
        commands = [_command(database, entry) for entry in entries]
    except OSError as problem:
        raise HaspError(f"cannot read {database}: {problem.strerror}", REMEDY) from None
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise HaspError(
            f"{database} is not a compile database: {problem or 'damaged'}",
            f"write it again; {REMEDY}",
        ) from None
    if not commands:
        raise HaspError(f"{database} names no source files", REMEDY)
    missing = [str(each.file) for each in commands if not each.file.is_file()]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise HaspError(
            f"{database} names files that do not exist: {', '.join(missing[:3])}{more}",
            "build the program, so that generated files exist; if files were moved or "
            f"deleted, write the database again: {REMEDY}",
        )
    return list(dict.fromkeys(commands))


def _command(database: Path, entry: dict[str, Any]) -> Command:
    directory = Path(database.parent, entry["directory"]).resolve()
    words = entry.get("arguments") or shlex.split(entry["command"])
    if not all(isinstance(word, str) for word in words):
        raise ValueError("a command is not a list of words")
    name = entry["file"]
    return Command((directory / name).resolve(), directory, tuple(words), name)
