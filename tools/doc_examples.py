#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the examples of documentation pages, and check or rewrite their output.

An example is a fenced `console` block after a comment line:

    <!-- example -->          run in every check
    <!-- example: slow -->    run only with --slow: it measures, or needs packages
    <!-- example: head=12 --> show the first 12 lines of each output, then `...`
    <!-- example: needs=node,/usr/bin/tclsh -->
                              leave it out where one of these programs is missing

Lines that begin with `$ ` are commands, continued after a backslash; the other lines
are their output. All commands of a page run in one temporary folder, in the order of
the page. A comment `<!-- prepare: COMMAND -->` runs a command there and shows nothing;
it runs only if an example after it does. HASP_SOURCE is the folder of the sources.

Figures change from run to run, so a check compares the shape of each line: its words
without numbers, units, addresses and rules. Most lines of the page must appear in the
new output with the same shape, wherever it breaks its lines.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = re.compile(r"<!-- (example|prepare)(?:: *(.*?))? *-->")
FENCE = "```"
TIMEOUT = 900  # seconds for one command
AGREEMENT = 0.8  # of the page's lines must appear in the new output
NUMBERS = re.compile(r"0x[0-9a-f]+|[\d][\d.,:]*|\b(ns|us|ms|s|k|M|G|KB|MB|kB)\b|%")


@dataclass
class Command:
    """A command and its output, as the page shows them."""

    text: str
    shown: list[str] = field(default_factory=list)


@dataclass
class Step:
    """A comment of the page with the commands that it governs."""

    commands: list[Command]
    slow: bool = False
    needs: tuple[str, ...] = ()  # programs
    head: int | None = None
    lines: tuple[int, int] = (0, 0)  # of the page that the output replaces


class DocumentError(Exception):
    """The page cannot be understood or prepared; the message names the place."""


def commands_of(lines: Sequence[str]) -> list[Command]:
    """Return the commands of a console block, each with the output shown for it."""
    found: list[Command] = []
    continued = False
    for line in lines:
        if continued:
            found[-1].text += "\n" + line
        elif line.startswith("$ "):
            found.append(Command(line[2:]))
        elif found:
            found[-1].shown.append(line)
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    return found


def steps(page: Path) -> Iterator[Step]:
    """Yield the examples and preparations of a page, in its order."""
    lines = page.read_text().splitlines()
    for number, line in enumerate(lines):
        mark = MARK.fullmatch(line.strip())
        if not mark:
            continue
        kind, words = mark[1], mark[2] or ""
        if kind == "prepare":
            yield Step([Command(words)])
            continue
        if lines[number + 1 : number + 2] != [FENCE + "console"]:
            raise DocumentError(f"{page}:{number + 1}: no console block follows")
        end = lines.index(FENCE, number + 2)
        options = words.split()
        head = next((int(o[5:]) for o in options if o.startswith("head=")), None)
        needs = next((o[6:].split(",") for o in options if o.startswith("needs=")), [])
        block = commands_of(lines[number + 2 : end])
        yield Step(block, "slow" in options, tuple(needs), head, (number + 2, end))


def possible(page: Path, slow: bool) -> Iterator[Step]:
    """Yield the examples that can run here, each after its preparations."""
    preparations: list[Step] = []
    for step in steps(page):
        if step.lines == (0, 0):
            preparations.append(step)
            continue
        missing = [program for program in step.needs if not shutil.which(program)]
        if step.slow and not slow:
            continue
        if missing:
            names = ", ".join(missing)
            print(f"{page}:{step.lines[0]}: left out without {names}", file=sys.stderr)
            continue
        yield from preparations
        preparations = []
        yield step


def prepare(page: Path, command: str, folder: Path) -> None:
    """Run a preparation; raise DocumentError with its output if it fails."""
    finished = start(command, folder)
    if finished.returncode != 0:
        output = finished.stdout.decode(errors="replace")
        raise DocumentError(f"{page}: `{command}` failed:\n{output}")


def start(command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command in `folder`; return its status and both its outputs."""
    binaries = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "HASP_SOURCE": str(ROOT),
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        check=False,
    )


def run(command: str, folder: Path) -> list[str]:
    """Run a command in `folder`; return the lines of both its outputs."""
    finished = start(command, folder)
    output = finished.stdout.decode(errors="replace")
    # A progress line overwrites itself; only its last state is an output.
    plain = [line.rpartition("\r")[2] for line in output.splitlines()]
    return [line.rstrip().replace(f"{folder}/", "") for line in plain]


def shape(line: str) -> str:
    """Return a line without its figures, rules and spacing."""
    words = re.sub(r"[─━│┃|+\-=]{2,}", "", NUMBERS.sub("", line))
    return " ".join(word for word in words.split() if word.strip("-~()/.<>±"))


def agreement(shown: Sequence[str], new: Sequence[str]) -> float:
    """Return the share of shown lines whose words follow each other in `new` too.

    Where the new output breaks its lines does not matter: figures change their width.
    """
    old = [shape(line) for line in shown if shape(line) and line != "..."]
    present = f" {' '.join(filter(None, map(shape, new)))} "
    return sum(f" {line} " in present for line in old) / len(old) if old else 1.0


def differences(page: Path, slow: bool) -> list[str]:
    """Run a page's examples; return a message for each output that has changed."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="hasp-example-") as name:
        for step in possible(page, slow):
            if step.lines == (0, 0):
                prepare(page, step.commands[0].text, Path(name))
                continue
            for command in step.commands:
                new = run(command.text, Path(name))
                if agreement(command.shown, new) < AGREEMENT:
                    text = "\n".join(new)
                    problems.append(f"{page}: $ {command.text}\nnow prints\n{text}")
    return problems


def rewrite(page: Path, slow: bool) -> None:
    """Run a page's examples, and put their output into the page."""
    lines = page.read_text().splitlines()
    replaced: list[tuple[tuple[int, int], list[str]]] = []
    with tempfile.TemporaryDirectory(prefix="hasp-example-") as name:
        for step in possible(page, slow):
            if step.lines == (0, 0):
                prepare(page, step.commands[0].text, Path(name))
                continue
            block = []
            for command in step.commands:
                output = run(command.text, Path(name))
                if step.head is not None and len(output) > step.head:
                    output = [*output[: step.head], "..."]
                block += [*f"$ {command.text}".split("\n"), *output]
            replaced.append((step.lines, block))
    for (first, end), block in reversed(replaced):
        lines[first:end] = block
    new = page.with_suffix(".new")
    new.write_text("\n".join(lines) + "\n")
    new.replace(page)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or rewrite pages; return 1 if an output has changed, 2 for a bad page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE")
    parser.add_argument("--write", action="store_true", help="rewrite the outputs")
    parser.add_argument("--slow", action="store_true", help="run slow examples too")
    options = parser.parse_args(arguments)
    problems: list[str] = []
    try:
        for page in options.pages:
            if options.write:
                rewrite(page, options.slow)
            else:
                problems += differences(page, options.slow)
    except (DocumentError, OSError, subprocess.TimeoutExpired) as problem:
        print(f"doc_examples: {problem}", file=sys.stderr)
        return 2
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
