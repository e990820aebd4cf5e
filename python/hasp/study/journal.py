# SPDX-License-Identifier: MIT
"""The runs of a study as they end: one JSON line each, so that nothing is lost.

    STORE/journals/MACHINE-DIGEST.jsonl
    STORE/journals/MACHINE-DIGEST.parts/*.jsonl  one of each job of a cluster (slurm/)

The digest is that of the plan: a changed plan begins a journal of its own. What a crash
left half written at the end is dropped; the run is then made again. A journal has one
writer; it knows the entries of others, which it reads but never touches.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.study.metrics import with_derived


@dataclass(frozen=True)
class JournalEntry:
    """One run."""

    program: str
    lock: str
    threads: int
    block: int
    outcome: str  # of hasp.compare.run_record
    detail: str
    values: dict[str, float]  # metric -> value, as measured
    wall_s: float
    noise: str  # why it does not count, or ""
    recorded: bool = False  # its values are of the recorder, not measured
    doubt: str = ""  # the kind of noise that it counts in spite of

    @property
    def good(self) -> bool:
        """Whether its values are to be used."""
        return self.outcome == "ok" and not self.noise

    @property
    def counts(self) -> bool:
        """Whether it is a measurement."""
        return self.good and not self.recorded


def read(path: Path) -> list[JournalEntry]:
    """The whole entries of a journal that another process may be writing."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    return _parse(path, text[: text.rfind(b"\n") + 1])


def _parse(path: Path, text: bytes) -> list[JournalEntry]:
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            entries.append(JournalEntry(**json.loads(line)))
        except (ValueError, TypeError):
            raise HaspError(
                f"{path}:{number} is no run of this version of Hasp",
                "delete that line, or the file to begin again",
            ) from None
    return entries


class Journal:
    """A file of entries that only grows, and the entries of `others` before its own."""

    def __init__(self, path: Path, others: Iterable[Path] = ()) -> None:
        self.path = path
        self.entries = [entry for other in others for entry in read(other)]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            self._file.seek(0)
            text = self._file.read()
        except OSError as problem:
            raise HaspError(
                f"cannot use {path}: {problem.strerror}",
                "name a --store in a folder that you may write",
            ) from None
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            self._file.truncate(whole)
        self.entries += _parse(path, text[:whole])

    def add(self, entry: JournalEntry) -> None:
        """Write an entry, so that it survives whatever comes next."""
        self.entries.append(entry)
        line = json.dumps(vars(entry), separators=(",", ":")) + "\n"
        try:
            self._file.write(line.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as problem:
            raise HaspError(
                f"cannot write to {self.path}: {problem.strerror}",
                "free some space; the same command then goes on where it stopped",
            ) from None

    def close(self) -> None:
        """No more."""
        self._file.close()

    def rows(self) -> list[dict[str, Any]]:
        """One row for each metric of each good run."""
        return [
            {
                "program": entry.program,
                "lock": entry.lock,
                "size": entry.threads,
                "run": number,
                "metric": metric,
                "value": value,
            }
            for number, entry in enumerate(self.entries)
            if entry.good
            for metric, value in with_derived(entry.values, entry.wall_s).items()
        ]
