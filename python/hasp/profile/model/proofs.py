# SPDX-License-Identifier: MIT
"""The proofs beside a trace, hasp.trace.proofs.json: measurements of locks.

`hasp advise -- COMMAND` writes them. A proof holds for the program that it names: the
same executable with the same number of threads, on as many CPUs and nodes. Recording
the trace again keeps the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError

SCHEMA = "hasp.proofs/1"
SUFFIX = ".proofs.json"
SAME_THREADS = 0.1  # difference of two thread counts, as a share, that is ignored


@dataclass(frozen=True)
class Subject:
    """The program that was measured, and the machine's size."""

    executable: str  # file name
    build_id: str  # hexadecimal; "" if the executable has none
    threads: int  # recorded
    cpus: int
    nodes: int

    def difference(self, other: Subject) -> str:
        """Return how `other` differs, in words; "" if a proof of one holds for both."""
        if self.executable != other.executable:
            return f"of another program, {self.executable}"
        if self.build_id != other.build_id:
            return f"of another build of {self.executable}"
        most = max(self.threads, other.threads)
        if abs(self.threads - other.threads) > SAME_THREADS * most:
            return f"with {self.threads} threads instead of {other.threads}"
        if self.cpus != other.cpus:
            return f"on {self.cpus} CPUs instead of {other.cpus}"
        if self.nodes != other.nodes:
            return f"on {self.nodes} NUMA nodes instead of {other.nodes}"
        return ""


@dataclass(frozen=True)
class LockProof:
    """The result of one lock on a program, relative to the program's own lock."""

    lock: str
    verdict: (
        str  # best, behind, harmful or cannot tell, among the locks that were tried
    )
    # throughput, or 1 / time, relative to the present lock, with its 95 % interval
    ratio: float
    low: float | None
    high: float | None
    runs: int
    metric: str
    host: str
    measured: str  # date and time, ISO 8601
    subject: Subject

    @property
    def words(self) -> str:
        """The ratio with its interval."""
        if self.low is None or self.high is None:
            return f"{self.ratio:.2f} times"
        return f"{self.ratio:.2f} times ({self.low:.2f} to {self.high:.2f})"


def path_of(trace: Path) -> Path:
    """Return the file of the proofs of a trace; all processes of a run share it."""
    name, _, process = trace.name.rpartition(".")
    first = name if name and process.isdecimal() else trace.name
    return trace.with_name(first + SUFFIX)


def read(trace: Path) -> tuple[LockProof, ...]:
    """Return all proofs beside a trace, stale ones included; () without the file.

    Raises HaspError if the file is damaged.
    """
    path = path_of(trace)
    try:
        document = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as problem:
        raise _damaged(path, problem) from None
    try:
        if document["schema"] != SCHEMA:
            raise ValueError(f"its schema is {document['schema']!r}")
        return tuple(map(_proof, document["proofs"]))
    except (KeyError, TypeError, ValueError) as problem:
        raise _damaged(path, problem) from None


def _damaged(path: Path, problem: Exception) -> HaspError:
    return HaspError(f"{path} is damaged: {problem}", "delete it, and prove again")


def _proof(record: dict[str, Any]) -> LockProof:
    return LockProof(**{**record, "subject": Subject(**record["subject"])})


def add(trace: Path, proofs: Iterable[LockProof]) -> Path:
    """Add proofs to the file; newer ones replace those of the same lock and subject."""
    path = path_of(trace)
    try:
        known = read(trace)
    except HaspError:  # it holds nothing that could be kept
        known = ()
    merged = {(one.lock, one.subject): one for one in (*known, *proofs)}
    document = {"schema": SCHEMA, "proofs": [asdict(one) for one in merged.values()]}
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
        unfinished.replace(path)
    except OSError as problem:
        unfinished.unlink(missing_ok=True)
        raise HaspError(
            f"{path} cannot be written: {problem.strerror}", "free some space"
        ) from None
    return path


def valid(
    proofs: Sequence[LockProof], subject: Subject
) -> tuple[tuple[LockProof, ...], str]:
    """Return the proofs that hold for a subject, and why others do not, or ""."""
    reasons = [one.subject.difference(subject) for one in proofs]
    held = tuple(one for one, why in zip(proofs, reasons, strict=True) if not why)
    stale = [why for why in reasons if why]
    if not stale:
        return held, ""
    number = "1 proof is" if len(stale) == 1 else f"{len(stale)} proofs are"
    return held, f"{number} ignored: measured {stale[-1]}"
