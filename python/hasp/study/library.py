# SPDX-License-Identifier: MIT
"""The library of programs to study: real ones that Debian has, and shapes with knobs.

A real program is a file in `programs/`: which packages it takes, what it shows, and
behind the heading `[program]` what a plan says of it, word for word. A shape is a
workload that takes its locks as applications of the lock study do.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.document import Document
from hasp.base.errors import HaspError
from hasp.lab.simulate.job import Workload
from hasp.study import shapes

FOLDER = Path(__file__).resolve().parent / "programs"
HEADING = "\n[program]\n"
REAL, SHAPE = "real", "shape"
GROUPS = ("all", "installed", REAL, SHAPE)
UNSAID = ("stagger_cycles", "home", "drain")  # knobs that few plans want to turn


@dataclass(frozen=True)
class LibraryProgram:
    """One program of the library."""

    name: str
    kind: str  # REAL or SHAPE
    summary: str
    study: str  # the applications of the lock study that it is, or has the shape of
    packages: tuple[str, ...]
    needs: tuple[str, ...]  # commands
    knobs: dict[str, Any]
    text: str  # its part of a plan

    @property
    def installed(self) -> bool:
        """Whether this machine has what it needs."""
        return all(shutil.which(command) for command in self.needs)


def entries() -> list[LibraryProgram]:
    """The whole library: real programs first."""
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
    """One thread, and as many as there are CPUs."""
    return sorted({1, len(os.sched_getaffinity(0))})


def chosen(
    every: Sequence[LibraryProgram], words: Iterable[str]
) -> list[LibraryProgram]:
    """The programs that names and groups stand for, in the library's order."""
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
            near = difflib.get_close_matches(word, [*names, *GROUPS], n=2, cutoff=0.5)
            offer = f"did you mean {' or '.join(near)}? " if near else ""
            raise HaspError(
                f"the library has no program {word!r}",
                f"{offer}`hasp study library` lists them; {', '.join(GROUPS)} "
                "stand for several",
            )
    if not found:
        raise HaspError("no program is chosen", "`hasp study library` lists them")
    return [entry for entry in every if entry.name in found]


def install_line(some: Iterable[LibraryProgram]) -> str:
    """How to get what these need and this machine lacks, or ""."""
    lacking = sorted(
        {name for one in some if not one.installed for name in one.packages}
    )
    return f"apt-get install {' '.join(lacking)}" if lacking else ""


def plan_text(some: Sequence[LibraryProgram]) -> str:
    """A plan of these programs, ready to run and to be edited."""
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
    """A new file; one that exists may have been edited."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise HaspError(
            f"{path} exists", "name another file, or remove that one first"
        ) from None
    except OSError as problem:
        raise HaspError(
            f"cannot write {path}: {problem.strerror}",
            "name a file in a folder of yours",
        ) from None


def words_of(text: str) -> list[str]:
    """A list with commas, as written on a command line."""
    return [word for word in re.split(r"[,\s]+", text) if word]
