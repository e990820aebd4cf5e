# SPDX-License-Identifier: MIT
"""The settings of a comparison: commands, locks, thread counts, order of runs."""

from __future__ import annotations

import math
import random
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.base.output import quoted
from hasp.launch.ready import Ready
from hasp.locks.native import REFERENCE

THREADS_MARK = "{threads}"
NODES_MARK = "{nodes}"
# Syntax that only the shell understands; other command lines are lists of words.
SHELL_SYNTAX = re.compile(r"[|&;<>()$`*?~#\n\[]|^\s*[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Metric:
    """A figure that the program prints."""

    name: str
    pattern: str
    unit: str = ""
    lower_is_better: bool = False
    required: bool = True  # whether a run without it has failed
    split: bool = False  # parsed as NAME=REGEX, though all of it could be the REGEX

    def last_match(self, text: str) -> float | None:
        """The number in the first group of the last match; None without a match."""
        return last_number(self.pattern, text)


def last_number(pattern: str, text: str) -> float | None:
    """Return the number in the first group of the last match of `pattern`, or None.

    NaN and infinity do not count: programs print them when they divide by zero, and a
    single one can leave every lock of a comparison without an interval.
    """
    found = None
    for match in re.finditer(pattern, text, re.MULTILINE):
        found = match
    if found is None or found.lastindex is None or found.group(1) is None:
        return None
    try:
        number = float(found.group(1).replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def parse_metric(text: str, number: int) -> Metric:
    """Parse `REGEX` or `NAME=REGEX`; `number` distinguishes unnamed metrics."""
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
            f"--metric {quoted(text)} is not a regular expression: {problem}",
            "quote it for the shell and escape special characters, for example "
            r"--metric 'ops/s: ([0-9.]+)'",
        ) from None
    if not groups:
        raise HaspError(
            f"--metric {quoted(text)} has no group around the number",
            f"put the number in parentheses, for example '{pattern} ([0-9.]+)'",
        )
    return Metric(name, pattern, split=named is not None)


@dataclass(frozen=True)
class Cell:
    """One cell of the table: a lock and, if it varies, a number of threads."""

    lock: str
    threads: int | None = None  # or NUMA nodes, depending on `unit`
    unit: str = "threads"

    @property
    def words(self) -> str:
        """Its name in messages."""
        if self.threads is None:
            return self.lock
        unit = self.unit.removesuffix("s") if self.threads == 1 else self.unit
        return f"{self.lock} ({self.threads} {unit})"


@dataclass(frozen=True)
class Settings:
    """Everything that is needed to repeat a comparison."""

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
    unit: str = "threads"  # of `threads`: threads or nodes
    node_cpus: tuple[int, ...] = ()  # number of CPUs of each node

    @property
    def cells(self) -> list[Cell]:
        """Every cell, in the order of the table."""
        return [
            Cell(lock, count, self.unit)
            for count in self.threads
            for lock in self.locks
        ]

    def blocks(self) -> Iterator[tuple[int, list[Cell]]]:
        """The rounds with their numbers: up to 0 for warm-up, from 1 for measured ones.

        Each contains every cell once, in a new random order, so that no lock always
        runs after the same other one or at the same moment of a slow drift. The first
        warm-up round starts with the reference, to find out at once if the command does
        not work.
        """
        order = random.Random(self.seed)
        for number in range(1 - self.warmup, self.runs + 1):
            block = self.cells
            order.shuffle(block)
            if number == 1 - self.warmup and self.warmup:
                block.sort(key=lambda cell: cell.lock != REFERENCE)
            yield number, block

    def substitute(self, text: str, cell: Cell) -> str:
        """`text` with {threads} and {nodes} replaced by the cell's numbers."""
        size = cell.threads
        count = sum(self.node_cpus[:size]) if self.unit == "nodes" else size
        text = text.replace(THREADS_MARK, "" if count is None else str(count))
        return text.replace(NODES_MARK, str(size)) if self.unit == "nodes" else text

    def command_for(self, cell: Cell) -> list[str]:
        """Return the command of a cell, as words."""
        return [self.substitute(word, cell) for word in self.command]

    def server_for(self, cell: Cell) -> list[str]:
        """Return the server's command of a cell, as words; a shell if it needs one."""
        return shell_words(self.substitute(self.server or "", cell))


def shell_words(line: str) -> list[str]:
    """Split a command line into words, or wrap it in a shell if it needs one."""
    if not SHELL_SYNTAX.search(line):
        try:
            words = shlex.split(line)
        except ValueError as problem:
            raise HaspError(
                f"{quoted(line)} is not a command line: {problem}",
                "close the quotation mark",
            ) from None
        if words:
            return words
        raise HaspError("the command line is empty", "name a program to run")
    return ["/bin/sh", "-c", line]
