# SPDX-License-Identifier: MIT
"""What a comparison is to do: commands, locks, thread counts, and in which order."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.launch.ready import Ready
from hasp.locks.native import REFERENCE

THREADS_MARK = "{threads}"
NODES_MARK = "{nodes}"
# What makes a command line one for the shell and not a mere list of words.
SHELL_SYNTAX = re.compile(r"[|&;<>()$`*?~#\n\[]|^\s*[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Metric:
    """A figure that the program itself prints."""

    name: str
    pattern: str
    unit: str = ""
    lower_is_better: bool = False
    required: bool = True  # a run without it has failed
    split: bool = False  # from one word, NAME=REGEX, which may have meant a REGEX

    def last_match(self, text: str) -> float | None:
        """The first group of the last match, as a number; None without one."""
        return last_number(self.pattern, text)


def last_number(pattern: str, text: str) -> float | None:
    """The first group of the last match of `pattern`, as a number."""
    found = None
    for match in re.finditer(pattern, text, re.MULTILINE):
        found = match
    if found is None or found.lastindex is None or found.group(1) is None:
        return None
    try:
        return float(found.group(1).replace(",", "").replace("_", ""))
    except ValueError:
        return None


def parse_metric(text: str, number: int) -> Metric:
    """The metric of `REGEX` or `NAME=REGEX`; `number` tells unnamed ones apart."""
    named = re.match(r"([A-Za-z][\w ./%-]*)=(.+)", text, re.DOTALL)
    name, pattern = (
        (named.group(1), named.group(2))
        if named
        else ("figure" if number == 1 else f"figure {number}", text)
    )
    try:
        groups = re.compile(pattern, re.MULTILINE).groups
    except re.error as problem:
        raise HaspError(
            f"--metric {text!r} is no regular expression: {problem}",
            "quote it for the shell and escape what is special, for example "
            r"--metric 'ops/s: ([0-9.]+)'",
        ) from None
    if not groups:
        raise HaspError(
            f"--metric {text!r} has no group around the number",
            f"put the number in brackets, for example '{pattern} ([0-9.]+)'",
        )
    return Metric(name, pattern, split=named is not None)


@dataclass(frozen=True)
class Cell:
    """One place of the table: a lock, and a number of threads if that varies."""

    lock: str
    threads: int | None = None  # or how much else of the machine is used
    unit: str = "threads"

    @property
    def words(self) -> str:
        """How a sentence names it."""
        if self.threads is None:
            return self.lock
        unit = self.unit.removesuffix("s") if self.threads == 1 else self.unit
        return f"{self.lock} ({self.threads} {unit})"


@dataclass(frozen=True)
class Plan:
    """A comparison, complete enough to be done again."""

    command: tuple[str, ...]
    locks: tuple[str, ...]  # the reference first
    threads: tuple[int | None, ...] = (None,)
    runs: int = 7
    warmup: int = 1
    seed: int = 0
    timeout_s: float = 60.0
    metrics: tuple[Metric, ...] = ()
    prepare: str | None = None
    check: str | None = None
    server: str | None = None
    ready: Ready | None = None
    unit: str = "threads"  # of `threads`; else nodes, with so many CPUs each:
    node_cpus: tuple[int, ...] = ()

    @property
    def cells(self) -> list[Cell]:
        """Every cell, in the order of the table."""
        return [
            Cell(lock, count, self.unit)
            for count in self.threads
            for lock in self.locks
        ]

    def blocks(self) -> Iterator[tuple[int, list[Cell]]]:
        """The blocks with their numbers: warm-up ones count up to 0, measured from 1.

        Each holds every cell once, in a random order of its own, so that no lock
        always runs after the same other one or at the same moment of a slow drift. The
        first warm-up starts with the reference: a command that does not work even there
        is found out at once.
        """
        order = random.Random(self.seed)
        for number in range(1 - self.warmup, self.runs + 1):
            block = self.cells
            order.shuffle(block)
            if number == 1 - self.warmup and self.warmup:
                block.sort(key=lambda cell: cell.lock != REFERENCE)
            yield number, block

    def substitute(self, text: str, cell: Cell) -> str:
        """`text` with the cell's number of threads in it, and of nodes."""
        size = cell.threads
        count = sum(self.node_cpus[:size]) if self.unit == "nodes" else size
        text = text.replace(THREADS_MARK, "" if count is None else str(count))
        return text.replace(NODES_MARK, str(size)) if self.unit == "nodes" else text

    def command_for(self, cell: Cell) -> list[str]:
        """The measured command of a cell."""
        return [self.substitute(word, cell) for word in self.command]

    def server_for(self, cell: Cell) -> list[str]:
        """The server's command of a cell; with shell syntax in it, the shell's."""
        return shell_words(self.substitute(self.server or "", cell))


def shell_words(line: str) -> list[str]:
    """A command line as words, or as a call of the shell where it needs one."""
    if not SHELL_SYNTAX.search(line):
        try:
            words = shlex.split(line)
        except ValueError as problem:
            raise HaspError(
                f"{line!r} is no command line: {problem}", "close the quotation mark"
            ) from None
        if words:
            return words
        raise HaspError("a command line is empty", "say what should run")
    return ["/bin/sh", "-c", line]
