# SPDX-License-Identifier: MIT
"""The kinds of algorithms in the catalogue: their lists, pages and words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lock_header import LIST


@dataclass(frozen=True)
class PageKind:
    """`kind` is that of hasp-locks' output; `macro` begins an entry of `listing`."""

    kind: str
    noun: str  # the object that has the state
    option: str  # of `hasp run`; "" if none selects it
    benchmark: str  # the word after `hasp bench`
    listing: Path
    macro: str
    index: Path  # the page with the table
    folder: Path  # of the algorithms' pages

    @property
    def prefix(self) -> str:
        """Before a name in labels of data: `spinlock:`; none for mutexes."""
        return "" if self.kind == "mutex" else f"{self.kind}:"

    @property
    def cases(self) -> str:
        """The page that describes the cases of the benchmark."""
        pages = {"mutex": "locks", "executor": "delegation"}
        return f"hasp-bench-{pages.get(self.kind, 'rwlocks')}.md#cases"


MUTEX = PageKind(
    *("mutex", "mutex", "--lock", "locks", LIST, "LOCK"),
    *(Path("docs/locks.md"), Path("docs/locks")),
)
EXECUTOR = PageKind(
    *("executor", "object", "", "delegation"),
    *(Path("src/delegation/executors.def"), "EXECUTOR"),
    *(Path("docs/executors.md"), Path("docs/executors")),
)
OTHERS = (
    *(
        PageKind(
            *(kind, kind, f"--{kind}", f"{kind}s"),
            Path(f"src/{kind}s/{kind}s.def"),
            kind.upper(),
            Path(f"docs/{kind}s.md"),
            Path(f"docs/{kind}s"),
        )
        for kind in ("rwlock", "spinlock", "barrier")
    ),
    EXECUTOR,
)
KINDS = {kind.kind: kind for kind in (MUTEX, *OTHERS)}


def kind_of(record: dict[str, Any]) -> PageKind:
    """Return the kind of a lock, or of a record about one."""
    return KINDS[record.get("kind", MUTEX.kind)]


def label(record: dict[str, Any], name: str = "") -> str:
    """Return a name that differs among all kinds. `name`: instead of the record's."""
    return kind_of(record).prefix + (name or str(record.get("lock", "")))
