# SPDX-License-Identifier: MIT
"""The head comment of a lock's header, and which lock of the list it belongs to.

The comment behind the SPDX line is, in this order and with blank lines between:

    a title sentence and the papers
    Idea: what makes it work
    name  meaning           the state: indented, two blanks or more behind the name,
                            continued deeper than the name; a line that ends in a colon
                            may stand above, at the margin
    I1. an invariant        and I2. and so on, continued by indented lines
    Timed lock: ...         where the construction is Hasp's own; also Trylock:, Proof:

Whatever else stands there is a note, and so is `Note: ...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LOCKS = Path("src/locks")
LIST = LOCKS / "locks.def"

INCLUDE_OR_LOCK = re.compile(
    r'^#include "(?P<header>[^"]+)"|^LOCK\((?P<name>\w+),', re.MULTILINE
)
ENTRY = re.compile(
    r'\s*"(?P<title>[^"]+)",\s*"[^"]*",\s*(?P<prefix>\w+),\s*'
    r"(?:WITH\((?P<argument>(?:[^()]|\([^()]*\))*)\)|NOTHING)"
)
HEAD = re.compile(r"/\*\s*SPDX[^\n]*\n\s*/\*\n(?P<body>.*?)\*/", re.DOTALL)
STATE_LINE = re.compile(r"^ {2,}(?P<name>\S+(?: \S+)*) {2,}(?P<meaning>\S.*)$")
INVARIANT = re.compile(r"^(?P<name>I\d+)\. (?P<words>.*)$")
KNOWN = re.compile(r"^(?P<word>Idea|Timed lock|Trylock|Proof|Note): ?(?P<words>.*)$")


class BadComment(Exception):
    """A head comment that lacks what a page needs; says the file and the paragraph."""


@dataclass
class Paragraph:
    """`word` is Timed lock, Trylock or Proof, or empty for a note."""

    word: str
    words: str


@dataclass
class Table:
    """Names and meanings; `intro` is the line above, which ends in a colon, or ""."""

    intro: str
    rows: list[tuple[str, str]]


@dataclass
class Head:
    """What the comment says; texts have no line breaks."""

    title: str = ""
    idea: list[str] = field(default_factory=list)
    state: list[Table] = field(default_factory=list)
    invariants: list[tuple[str, str]] = field(default_factory=list)
    paragraphs: list[Paragraph] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """Where a lock comes from: `prefix`_lock(lock, argument) and so on of `header`."""

    header: Path
    prefix: str
    argument: str  # a waiting policy or the like; empty for none


def entries_of_list(root: Path) -> dict[str, Entry]:
    """For each title in locks.def its entry; the header is the #include above it."""
    text = (root / LIST).read_text(encoding="utf-8")
    entries: dict[str, Entry] = {}
    header: Path | None = None
    for found in INCLUDE_OR_LOCK.finditer(text):
        if found["header"]:
            header = Path("src") / found["header"]
            continue
        entry = ENTRY.match(text, found.end())
        if entry is None or header is None:
            raise BadComment(
                f"{LIST}: the entry {found['name']} is unreadable, or lacks an #include"
            )
        argument = " ".join((entry["argument"] or "").split())
        entries[entry["title"]] = Entry(header, entry["prefix"], argument)
    return entries


def parse(root: Path, header: Path) -> Head:
    """The head comment of a header; BadComment when something due is missing."""
    text = (root / header).read_text(encoding="utf-8")
    found = HEAD.match(text)
    if found is None:
        raise BadComment(f"{header}: no head comment behind the SPDX line")
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in found["body"].split("\n")]
    head = _read(lines)
    for missing, what in (
        (not head.title, "the first paragraph (a title and the papers)"),
        (not head.idea, "the paragraph `Idea: ...`"),
        (not head.state, "the state table (indented lines `name  meaning`)"),
        (not head.invariants, "the invariants (lines `I1. ...`)"),
    ):
        if missing:
            raise BadComment(f"{header}: the head comment lacks {what}")
    numbers = [name for name, _ in head.invariants]
    if numbers != [f"I{number}" for number in range(1, len(numbers) + 1)]:
        raise BadComment(
            f"{header}: the invariants are {', '.join(numbers)}, not I1, I2, ..."
        )
    return head


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines of one kind: paragraphs, one invariant each, or rows of a table."""
    block: list[str] = []
    for line in lines:
        if block and (not line or _begins(line, block)):
            yield block
            block = []
        if line:
            block.append(line)
    if block:
        yield block


def _begins(line: str, block: list[str]) -> bool:
    """Whether a line begins a block of another kind than the one before it."""
    if KNOWN.match(line) or INVARIANT.match(line):
        return True
    indented = line.startswith(" ")
    if _is_state(block) or INVARIANT.match(block[0]):
        return not indented
    return bool(STATE_LINE.match(line))


def _is_state(block: list[str]) -> bool:
    return bool(STATE_LINE.match(block[0]))


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)


def _read(lines: list[str]) -> Head:
    head = Head()
    word = ""  # of the paragraph that is being continued
    blocks = list(_blocks(lines))
    for place, block in enumerate(blocks):
        known, invariant = KNOWN.match(block[0]), INVARIANT.match(block[0])
        before_table = place + 1 < len(blocks) and _is_state(blocks[place + 1])
        if not head.title:
            head.title = _joined(block)
        elif _is_state(block):
            above = _joined(blocks[place - 1])
            intro = above if above.endswith(":") else ""
            head.state.append(Table(intro, _rows(block)))
            word = ""
        elif invariant:
            words = _joined([invariant["words"], *block[1:]])
            head.invariants.append((invariant["name"], words))
            word = ""
        elif known is None and before_table and block[-1].endswith(":"):
            continue  # the table takes it
        else:
            if known:
                word, block = known["word"], [known["words"], *block[1:]]
            words = _joined(block).strip()
            if word == "Note":
                word = ""
            if word == "Idea":
                head.idea.append(words)
            else:
                head.paragraphs.append(Paragraph(word, words))
    return head


def _rows(block: list[str]) -> list[tuple[str, str]]:
    """The rows of a state table: what is deeper than the first name continues a row."""
    margin = len(block[0]) - len(block[0].lstrip())
    rows: list[tuple[str, str]] = []
    for line in block:
        row = STATE_LINE.match(line)
        depth = len(line) - len(line.lstrip())
        if row and depth == margin:
            rows.append((row["name"], row["meaning"].strip()))
        elif rows:
            name, meaning = rows[-1]
            rows[-1] = (name, f"{meaning} {line.strip()}")
    return rows
