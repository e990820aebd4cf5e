# SPDX-License-Identifier: MIT
"""Reads the head comments of the Spin models in this folder, and runs the models.

These lines of a head comment define the tests:

    Models: FILE FUNCTION[=DIGEST]...     the C functions that the model covers
    Run: NAME [-DX...]                    a configuration without errors
    Slow: NAME [-DX...]                   the same, for `make test-all`
    Bug: NAME what it is: ERROR [CONFIG]  with -DBUG_NAME, Spin must report ERROR

A bug is searched for in the configuration that defines CONFIG, or in the first one.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]

# Limits for pan: depth of the search, and memory in MB.
LIMITS = ("-m1000000", "-DMEMLIM=2000")


@dataclass(frozen=True)
class Run:
    """One search: a model, its definitions, and the error that Spin must find."""

    model: Path
    name: str
    definitions: tuple[str, ...]
    error: str = ""
    long: bool = False

    def __str__(self) -> str:
        return f"{self.model.stem}: {self.name}"


@dataclass(frozen=True)
class Modelled:
    """A modelled C function, and the digest of its text when it was modelled."""

    model: Path
    file: str
    function: str
    digest: str


@dataclass(frozen=True)
class Verdict:
    """The result of Spin's verifier."""

    error: str  # "" if none
    complete: bool
    states: int
    output: str


def models() -> list[Path]:
    return sorted(path for path in FOLDER.glob("*.pml") if "\n * Run:" in head(path))


def head(model: Path) -> str:
    return model.read_text(encoding="utf-8").split("*/\n", 2)[1]


def lines(model: Path, key: str) -> Iterator[str]:
    yield from re.findall(rf"^ \* {key}: (.*)$", head(model), re.MULTILINE)


def runs(model: Path, key: str = "Run") -> list[Run]:
    result = []
    for line in lines(model, key):
        name, *definitions = line.split(" -D")
        words = tuple(f"-D{it.strip()}" for it in definitions)
        result.append(Run(model, name, words, long=key == "Slow"))
    return result


def bugs(model: Path) -> list[Run]:
    found = []
    for line in lines(model, "Bug"):
        what, _, expected = line.rpartition(": ")
        name = what.split()[0]
        *words, last = expected.split()
        needed = last if last.isupper() else ""
        error = " ".join(words if needed else [*words, last])
        base = next(
            run
            for run in runs(model) + runs(model, "Slow")
            if not needed or f"-D{needed}" in run.definitions
        )
        found.append(Run(model, name, (*base.definitions, f"-DBUG_{name}"), error))
    return found


def modelled(model: Path) -> Iterator[Modelled]:
    for line in lines(model, "Models"):
        file, *functions = line.split()
        for function in functions:
            name, _, digest = function.partition("=")
            yield Modelled(model, file, name, digest)


def c_function(file: str, name: str) -> str | None:
    """Return the text of a C function, from its first line to its closing brace."""
    text = (ROOT / file).read_text(encoding="utf-8")
    pattern = rf"^[^\s#/].*(?:\n.*)?\b{name}\((?:[^;{{]|\n)*\n\{{\n(?:.*\n)*?\}}\n"
    found = re.search(pattern, text, re.MULTILINE)
    return found.group() if found else None


def digest(text: str) -> str:
    """Return a digest of a C function that ignores comments and layout."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()[:8]


def search(run: Run, folder: Path) -> Verdict:
    """Run Spin's verifier to completion, or to the first error."""

    def call(*command: str) -> str:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode or "Error:" in done.stdout:
            raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
        return done.stdout

    call("spin", "-a", *run.definitions, str(run.model))
    liveness = "-DALL_SERVED" in run.definitions
    mode = [] if liveness else ["-DSAFETY"]
    # A search of a second or less is shorter than the compiler's optimization. A long
    # one needs COLLAPSE, which saves memory, and a large hash table.
    mode += ["-O1", "-DCOLLAPSE"] if run.long else ["-O0"]
    table = "-w24" if run.long else "-w22"
    # NFAIR is the number of processes in a fair search.
    call("cc", "-w", "-DNFAIR=3", LIMITS[1], *mode, "-o", "pan", "pan.c")
    output = call("./pan", LIMITS[0], table, *(["-a", "-f"] if liveness else []))
    error = re.search(
        r"^pan:\d+: (invalid end state|assertion violated|acceptance"
        r" cycle)",
        output,
        re.MULTILINE,
    )
    cut = re.search(
        r"max search depth too small|Search not completed|out of memory", output
    )
    states = re.search(r"(\d+) states, stored", output)
    return Verdict(
        error=error.group(1) if error else "",
        complete=not cut,
        states=int(states.group(1)) if states else 0,
        output=output,
    )
