# SPDX-License-Identifier: MIT
"""The library of programs to study: real programs from Debian, and shapes with knobs.

A real program is a file in `programs/` with its packages, a summary and, below the
heading `[program]`, its part of a campaign verbatim. A shape is a workload that uses
locks like an application of the lock study.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.document import Document
from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.lab.simulate.job import Workload
from hasp.study import shapes

FOLDER = Path(__file__).resolve().parent / "programs"
HEADING = "\n[program]\n"
REAL, SHAPE = "real", "shape"
GROUPS = ("all", "installed", REAL, SHAPE)
UNSAID = ("stagger_cycles", "home", "drain")  # knobs that few campaigns change


@dataclass(frozen=True)
class LibraryProgram:
    """One program of the library."""

    name: str
    kind: str  # REAL or SHAPE
    summary: str
    study: str  # applications of the lock study that it represents or resembles
    packages: tuple[str, ...]
    needs: tuple[str, ...]  # commands
    knobs: dict[str, Any]
    text: str  # its part of a campaign

    @property
    def installed(self) -> bool:
        """Return true if its commands are installed on this host."""
        return all(shutil.which(command) for command in self.needs)


def entries() -> list[LibraryProgram]:
    """Return all programs of the library, real ones first."""
    real = [_real(path) for path in sorted(FOLDER.glob("*.toml"))]
    return real + [_shape(one) for one in shapes.listed() if one.shape_of]


def _real(path: Path) -> LibraryProgram:
    document = Document.read(path)
    facts = document.data
    return LibraryProgram(
        name=facts["program"]["name"],
        kind=REAL,
        summary=facts["summary"],
        study=facts["study"],
        packages=tuple(facts["packages"]),
        needs=tuple(facts["needs"]),
        knobs={},
        text=document.text.partition(HEADING)[2],
    )


def _shape(workload: Workload) -> LibraryProgram:
    knobs = {
        name: knob["default"]
        for name, knob in workload.knobs.items()
        if name not in UNSAID
    }
    said = ", ".join(
        f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}"
        for name, value in knobs.items()
    )
    least = workload.threads_least
    counts = [count for count in thread_counts() if count >= least] or [least]
    threads = f"threads = {counts}\n" if counts != thread_counts() else ""
    text = (
        f'name = "{workload.name}"\nworkload = "{workload.name}"\n'
        f"{threads}knobs = {{ {said} }}\n"
    )
    return LibraryProgram(
        name=workload.name,
        kind=SHAPE,
        summary=workload.summary,
        study=workload.shape_of,
        packages=(),
        needs=(),
        knobs=knobs,
        text=text,
    )


def thread_counts() -> list[int]:
    """Return the numbers of threads of a new campaign: 1, and the number of CPUs."""
    return sorted({1, len(os.sched_getaffinity(0))})


def chosen(
    every: Sequence[LibraryProgram], words: Iterable[str]
) -> list[LibraryProgram]:
    """Return the programs with the given names and groups, in the library's order."""
    found: set[str] = set()
    names = [entry.name for entry in every]
    for word in words:
        if word in GROUPS:
            found.update(
                entry.name
                for entry in every
                if word in ("all", entry.kind)
                or (word == "installed" and entry.installed)
            )
        elif word in names:
            found.add(word)
        else:
            offer = did_you_mean(word, [*names, *GROUPS])
            raise HaspError(
                f"the library has no program {word!r}",
                f"{offer}`hasp study library` lists the programs; the groups are "
                f"{', '.join(GROUPS)}",
            )
    if not found:
        raise HaspError("no program is selected", "`hasp study library` lists them")
    return [entry for entry in every if entry.name in found]


def install_line(some: Iterable[LibraryProgram]) -> str:
    """Return the command that installs what these programs lack on this host, or ""."""
    lacking = sorted(
        {name for one in some if not one.installed for name in one.packages}
    )
    return f"apt-get install {' '.join(lacking)}" if lacking else ""


def plan_text(some: Sequence[LibraryProgram]) -> str:
    """Return a campaign with these programs, ready to run or edit."""
    packages = sorted({name for one in some for name in one.packages})
    needed = f"# apt-get install {' '.join(packages)}\n" if packages else ""
    head = f"""\
# Programs of Hasp's library; docs/hasp-study.md has the keys.
{needed}schema = 1
title = "programs of the library"

[defaults]
locks = "all"
threads = {thread_counts()}
least_runs = 3
most_runs = 5
timeout = "10s"
seconds = 1
"""
    return head + "".join(
        f"\n# {one.summary}{_as(one)}\n[[program]]\n{one.text}" for one in some
    )


def _as(entry: LibraryProgram) -> str:
    if not entry.study:
        return ""
    words = "in the lock study" if entry.kind == REAL else "as in the lock study"
    return f"\n# {words}: {entry.study}"


def write(path: Path, text: str) -> None:
    """Write a new file; an existing one is kept, as the user may have edited it."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise HaspError(
            f"{path} already exists", "name another file, or delete that one first"
        ) from None
    except OSError as problem:
        raise HaspError(
            f"cannot write {path}: {problem.strerror}",
            "name a file in a folder that you can write to",
        ) from None


def words_of(text: str) -> list[str]:
    """Split a comma-separated list."""
    return [word for word in re.split(r"[,\s]+", text) if word]
