# SPDX-License-Identifier: MIT
"""Mutants of lock code: each has one memory order weakened, or one wake-up dropped.

The operations of platform.h, which name their memory order, are found in the text of a
file. Each operation is replaced by:

    X_acquire, X_release      X_relaxed
    X_acq_rel                 X_release (no acquire), X_acquire (no release); a relaxed
                              one is weaker than both, so a check that refuses one of
                              them refuses it, too
    acquire_if, release_if    a relaxed compare-and-exchange
    fence_seq_cst, light_barrier, heavy_barrier    nothing
    unpark, requeue           nothing: a wake-up is lost
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
LOCKS = SOURCES / "locks"
RWLOCKS = SOURCES / "rwlocks"
SPINLOCKS = SOURCES / "spinlocks"
BARRIERS = SOURCES / "barriers"
LISTS = {
    "mutex": LOCKS / "locks.def",
    "rwlock": RWLOCKS / "rwlocks.def",
    "spinlock": SPINLOCKS / "spinlocks.def",
    "barrier": BARRIERS / "barriers.def",
}
# A rwlock made of a mutex has this prefix, and this header instead of an entry.
OVER_MUTEX = "mutex:"
OVER_MUTEX_HEADER = "rwlocks/algorithms/rw_mutex.h"

# The folders whose sources keep the folder in their name (file_of()).
OTHER_FOLDERS = ("rwlocks/", "spinlocks/", "barriers/")

OPERATION = re.compile(
    r"\b(?P<name>(?:load|equals|store|exchange|compare_exchange|test_and_set|fetch_\w+?)"
    r"_(?P<order>acquire|release|acq_rel)|acquire_if|release_if"
    r"|fence_seq_cst|light_barrier|heavy_barrier|unpark|requeue)\("
)

DROPPED = {
    "fence_seq_cst": "((void)0)",
    "light_barrier": "((void)0)",
    "heavy_barrier": "true",
    "unpark": "((void)0)",
    "requeue": "((void)0)",
}

# Starts in column 0: a definition, or a macro.
DEFINITION = re.compile(r"^#define (\w+)|^[A-Za-z_][^;{}=#]*", re.MULTILINE)
# Macro calls without a semicolon may precede it.
CALLS = re.compile(r"(?:[A-Z][A-Z0-9_]*\((?:[^()]|\([^()]*\))*\)\s+)*")
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)\)?", re.DOTALL)


def file_of(path: Path) -> str:
    """Return the name of a source: below src/locks, or below src with its folder."""
    below = LOCKS if path.is_relative_to(LOCKS) else SOURCES
    return path.relative_to(below).as_posix()


def path_of(file: str) -> Path:
    """Return the path of a source from its name."""
    return (SOURCES if file.startswith(OTHER_FOLDERS) else LOCKS) / file


@dataclass(frozen=True)
class Mutant:
    """One change to one file."""

    file: str  # as in file_of()
    function: str
    operation: str  # its text, on one line
    occurrence: int  # of this text in the function, from 1
    weakened: str  # the weaker order, or "dropped"
    line: int
    start: int
    end: int
    replacement: str
    within: str  # text of the function

    @property
    def key(self) -> str:
        """Identifies the mutant even if other parts of the file change."""
        number = f" #{self.occurrence}" if self.occurrence > 1 else ""
        return (
            f"{self.file} {self.function}: {self.operation}{number} -> {self.weakened}"
        )

    @property
    def wakes(self) -> bool:
        return self.operation.startswith(("unpark", "requeue"))

    def apply(self, text: str) -> str:
        return text[: self.start] + self.replacement + text[self.end :]


def without_comments(text: str) -> str:
    """The text with comments and strings replaced by blanks, of the same length."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found.group())

    return re.sub(
        r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.DOTALL
    )


def closing(text: str, opening: int) -> int:
    """Return the offset after the parenthesis that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    raise ValueError("unbalanced parentheses")


def split_arguments(text: str) -> list[str]:
    """Return the arguments in `text`, a pair of parentheses."""
    parts, depth = [""], 0
    for letter in text[1:-1]:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def weakenings(found: re.Match[str], arguments: str) -> Iterator[tuple[str, str]]:
    """Yield (weaker order, replacement) for an operation."""
    name, order = found["name"], found["order"]
    if name in DROPPED:
        yield "dropped", DROPPED[name]
    elif name in ("acquire_if", "release_if"):
        cell, seen, wanted = split_arguments(arguments)
        yield (
            "relaxed",
            f"compare_exchange_relaxed({cell}, &(uint32_t){{{seen}}}, {wanted})",
        )
    else:
        stem = name.removesuffix(order)
        weaker = ("release", "acquire") if order == "acq_rel" else ("relaxed",)
        for to in weaker:
            yield to, f"{stem}{to}{arguments}"


def functions_of(code: str) -> list[tuple[int, str]]:
    """Return (offset, name) of every function, and of macros that define functions."""
    found = []
    for definition in DEFINITION.finditer(code):
        if definition[1]:
            found.append((definition.start(), definition[1]))
            continue
        calls = CALLS.match(definition.group())
        start = calls.end() if calls else 0
        name = re.search(r"\b(\w+)\(", ATTRIBUTE.sub("", definition.group()[start:]))
        if name:
            found.append((definition.start() + start, name[1]))
    return found


def find_mutants(file: str, text: str) -> list[Mutant]:
    """Return every mutant of a file, in textual order."""
    code = without_comments(text)
    functions = functions_of(code)
    mutants, seen = [], dict[tuple[str, str], int]()
    for found in OPERATION.finditer(code):
        before = [
            at for at, (start, _) in enumerate(functions) if start <= found.start()
        ]
        start, function = functions[before[-1]] if before else (0, "file")
        behind = functions[len(before) :]
        within = text[start : behind[0][0] if behind else len(text)]
        end = closing(code, found.end() - 1)
        arguments = text[found.end() - 1 : end]
        operation = " ".join(re.sub(r"\\\n", " ", text[found.start() : end]).split())
        occurrence = seen.get((function, operation), 0) + 1
        seen[function, operation] = occurrence
        line = text.count("\n", 0, found.start()) + 1
        for to, replacement in weakenings(found, arguments):
            mutants.append(
                Mutant(
                    file=file,
                    function=function,
                    operation=operation,
                    occurrence=occurrence,
                    weakened=to,
                    line=line,
                    start=found.start(),
                    end=end,
                    replacement=replacement,
                    within=within,
                )
            )
    return mutants


INCLUDES = re.compile(r'^#include "((?:(?:rw|spin)?locks|barriers)/\S+)"', re.MULTILINE)
# A header, or an entry: up to a parenthesis at the end of a line, before the next one.
LIST_LINE = re.compile(
    r'^#include "(\S+/\S+)"'
    r'|^(?:(?:RW|SPIN)?LOCK|BARRIER)\(\w+, "([^"]+)"(?:[^"]|"[^"]*")*?\)\n'
    r"(?=\n|#|/|(?:RW|SPIN)?LOCK|BARRIER|\Z)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Entry:
    """An algorithm of one of the lists."""

    kind: str
    name: str
    header: str  # as in file_of()
    text: str

    @property
    def label(self) -> str:
        """Its name among all kinds: some spin locks have the name of a mutex."""
        qualified = self.kind in ("spinlock", "barrier")
        return f"{self.kind}:{self.name}" if qualified else self.name

    @property
    def parks(self) -> bool:
        return self.kind == "barrier" or re.search(r"\bPARKS\b", self.text) is not None


def entries() -> list[Entry]:
    """Return the locks of all lists, each with the header included above it."""
    found, header = [], ""
    for kind, path in LISTS.items():
        for match in LIST_LINE.finditer(path.read_text(encoding="utf-8")):
            if match[1]:
                header = file_of(SOURCES / match[1])
            else:
                found.append(Entry(kind, match[2], header, match.group()))
    return found


def entry_of(label: str) -> Entry:
    """Return the entry with this label, or that of the lock which it wraps."""
    if label.startswith(OVER_MUTEX):
        return Entry("rwlock", label, OVER_MUTEX_HEADER, "")
    plain = label.rpartition("+")[2]
    return next(entry for entry in entries() if entry.label == plain)


def name_of(label: str) -> str:
    """Return the name by which hasp-explore finds a lock among those of its kind."""
    wrapper, plus, _ = label.rpartition("+")
    return wrapper + plus + entry_of(label).name


def list_of_one(entry: Entry) -> str:
    """Return the text of its list with all headers, but only this lock. A rwlock made
    of a mutex has no entry; its list keeps the first one."""
    text = LISTS[entry.kind].read_text(encoding="utf-8")
    kept = entry.text or next(it.text for it in entries() if it.kind == entry.kind)
    includes = re.findall(r'^#include "\S+"\n', text, re.MULTILINE)
    return "".join(includes) + kept


def includes_of(file: str, seen: set[str] | None = None) -> set[str]:
    """The files of the locks that one of them includes, itself among them."""
    seen = set() if seen is None else seen
    if file not in seen and path_of(file).exists():
        seen.add(file)
        text = path_of(file).read_text(encoding="utf-8")
        for name in INCLUDES.findall(text):
            includes_of(file_of(SOURCES / name), seen)
    return seen


def digest(text: str) -> str:
    """Return a digest of code that ignores comments and layout."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return hashlib.sha256("".join(code.split()).encode()).hexdigest()[:12]
