# SPDX-License-Identifier: MIT
"""Real programs with a known lock fault, and whether a verdict on one of them is right.

tests/programs/servers/real/truth.toml documents the fields.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Any

from verdict_truth import HEALTHY, ROOT, SERVERS, Judgement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = SERVERS / "real"
SHORT_LIVED = Path("/dev/shm")
HALF = "real"
LOAD_DELAY = 0.5
LIMIT = 60


@dataclass(frozen=True)
class RealProgram:
    """A command with a known lock fault, or none."""

    name: str
    needs: tuple[str, ...]
    prepare: str
    command: str
    load: str
    better: str
    metric: str
    cause: str
    also: tuple[str, ...]
    lock: str
    remedies: tuple[str, ...]
    threads: tuple[int, ...]
    origin: str
    half: str = HALF

    def runs_with(self, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers of threads to run with: its own, if any are wanted."""
        return self.threads if wanted else ()

    def causes(self, threads: int) -> tuple[str, ...]:
        """Return the right causes, the expected one first."""
        return (self.cause, *self.also) if threads in self.threads else ()

    def has_gains(self) -> bool:
        """Return true if there is a variant without the fault."""
        return bool(self.better)

    def missing(self) -> list[str]:
        """Return what the program needs and this machine lacks."""
        return [
            need
            for need in self.needs
            if not (Path(need).exists() or shutil.which(need))
        ]

    def judge(self, verdict: Mapping[str, Any]) -> Judgement:
        """Return the respects in which the verdict is right."""
        cause, remedy = verdict.get("cause") or "", verdict.get("remedy") or ""
        right = cause in (self.cause, *self.also)
        if self.cause in HEALTHY:
            return Judgement(right or cause in HEALTHY, right, right)
        named = re.search(self.lock, verdict.get("lock") or "") is not None
        return Judgement(named, right, remedy in self.remedies)


@cache
def real_programs() -> tuple[RealProgram, ...]:
    """Return the real programs, in the order of the file."""
    text = (FOLDER / "truth.toml").read_text(encoding="utf-8")
    return tuple(_program(item) for item in tomllib.loads(text)["program"])


def _program(item: Mapping[str, Any]) -> RealProgram:
    lists = ("needs", "also", "remedies", "threads")
    texts = ("name", "prepare", "command", "load", "better", "metric", "cause")
    values: dict[str, Any] = {name: tuple(item.get(name, ())) for name in lists}
    values |= {name: item.get(name, "") for name in (*texts, "lock", "origin")}
    return RealProgram(**values)


def folder() -> Path:
    """Return the folder of the runs, which is made if need be."""
    above = SHORT_LIVED if SHORT_LIVED.is_dir() else Path(tempfile.gettempdir())
    found = above / f"hasp-verdicts-{os.getuid()}"
    found.mkdir(exist_ok=True)
    return found


def words(program: RealProgram, threads: int) -> list[str]:
    """Return the command to profile."""
    return _shell_words(program.command, threads)


def _shell_words(command: str, threads: int = 1) -> list[str]:
    disk = Path(tempfile.gettempdir(), f"hasp-verdicts-disk-{os.getuid()}")
    disk.mkdir(exist_ok=True)
    names = {"HERE": FOLDER, "SOURCE": ROOT, "DISK": disk}
    exports = " ".join(f"{name}={quote(str(path))}" for name, path in names.items())
    command = command.replace("{threads}", str(threads))
    return ["sh", "-c", f"cd {folder()}; export {exports}; {command}"]


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)


def prepare(program: RealProgram) -> bool:
    """Make what the program needs; return false if that is impossible here."""
    if program.missing():
        return False
    if not program.prepare:
        return True
    return _run(_shell_words(program.prepare)).returncode == 0


@contextmanager
def loaded(program: RealProgram) -> Iterator[None]:
    """Run the program's load beside what is done meanwhile."""
    if not program.load:
        yield
        return
    words = _shell_words(f"sleep {LOAD_DELAY}; {program.load}")
    quiet = subprocess.DEVNULL
    with subprocess.Popen(words, stdout=quiet, stderr=quiet) as load:
        try:
            yield
        finally:
            load.terminate()


def measure_gain(program: RealProgram, threads: int, rounds: int) -> dict[str, float]:
    """Return the ratio of the figure without the fault to that with it.

    It is the median of interleaved rounds, under the name of the first right remedy;
    nothing if the program cannot run here.
    """
    if not prepare(program):
        return {}
    ratios = []
    for _ in range(rounds):
        faulty = figure(program, program.command, threads)
        ratios.append(figure(program, program.better, threads) / faulty)
    remedy = program.remedies[0] if program.remedies else "other-tool"
    return {remedy: round(statistics.median(ratios), 3)}


def figure(program: RealProgram, command: str, threads: int) -> float:
    """Return the figure of one run, where more is better; at least 1e-9.

    Raises ValueError if the command fails or does not print it.
    """
    began = time.monotonic()
    ran = _run(_shell_words(command, threads))
    seconds = time.monotonic() - began
    if ran.returncode != 0:
        raise ValueError(f"{program.name} failed: {ran.stderr[-300:]}")
    if not program.metric:
        return 1 / seconds
    found = re.findall(program.metric, ran.stdout + ran.stderr)
    if not found:
        raise ValueError(f"{program.name} printed no {program.metric}")
    return max(float(found[-1]), 1e-9)
