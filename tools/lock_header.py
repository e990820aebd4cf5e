# SPDX-License-Identifier: MIT
"""Parses the head comment of a lock's header, and finds its entry in the lock list.

The comment after the SPDX line consists of, in this order and separated by blank lines:

    a title sentence and the papers
    Idea: why it works
    name  meaning           the state: indented, at least two blanks after the name,
                            continued deeper than the name; a line that ends in a colon
                            may precede it, at the margin
    I1. an invariant        then I2. and so on, continued by indented lines; any capital
                            letter will do
    Timed lock: ...         if the construction is Hasp's own; also Trylock:, Proof:

Any other paragraph is a note, like `Note: ...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LOCKS = Path("src/locks")
LIST = LOCKS / "locks.def"

INCLUDE_OR_LOCK = r'^#include "(?P<header>[^"]+)"|^{macro}\((?P<name>\w+),'
ENTRY = re.compile(
    r'\s*"(?P<title>[^"]+)",\s*(?:"[^"]*",\s*)?(?P<prefix>\w+),\s*'
    r"(?:WITH\((?P<argument>(?:[^()]|\([^()]*\))*)\)|\w+\(lock(?:,\s*(?P<how>[^()]*))?\)"
    r'|\w+|(?="))'
)
HEAD = re.compile(r"/\*\s*SPDX[^\n]*\n\s*/\*\n(?P<body>.*?)\*/", re.DOTALL)
STATE_LINE = re.compile(r"^ {2,}(?P<name>\S+(?: \S+)*) {2,}(?P<meaning>\S.*)$")
INVARIANT = re.compile(r"^(?P<name>[A-Z]\d+)\. (?P<words>.*)$")
KNOWN = re.compile(r"^(?P<word>Idea|Timed lock|Trylock|Proof|Note): ?(?P<words>.*)$")


class BadComment(Exception):
    """A head comment lacks a required paragraph. The text names file and paragraph."""


@dataclass
class Paragraph:
    """`word` is Timed lock, Trylock or Proof, or empty for a note."""

    word: str
    words: str


@dataclass
class Table:
    """Names and meanings; `intro` is the line before it that ends in a colon, or ""."""

    intro: str
    rows: list[tuple[str, str]]


@dataclass
class Head:
    """The contents of the comment; texts have no line breaks."""

    title: str = ""
    idea: list[str] = field(default_factory=list)
    state: list[Table] = field(default_factory=list)
    invariants: list[tuple[str, str]] = field(default_factory=list)
    paragraphs: list[Paragraph] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """The functions of a lock: `prefix`_lock(lock, argument) and so on, in `header`."""

    header: Path
    prefix: str
    argument: str  # a waiting policy or the like; empty for none


def entries_of_list(
    root: Path, listing: Path = LIST, macro: str = "LOCK"
) -> dict[str, Entry]:
    """Return the entry for each title in a list, with the last header before it."""
    text = (root / listing).read_text(encoding="utf-8")
    pattern = re.compile(INCLUDE_OR_LOCK.format(macro=macro), re.MULTILINE)
    entries: dict[str, Entry] = {}
    header: Path | None = None
    for found in pattern.finditer(text):
        if found["header"]:
            header = Path("src") / found["header"]
            continue
        entry = ENTRY.match(text, found.end())
        if entry is None or header is None:
            raise BadComment(
                f"{listing}: the entry {found['name']} is unreadable, or lacks an"
                " #include"
            )
        argument = " ".join((entry["argument"] or entry["how"] or "").split())
        entries[entry["title"]] = Entry(header, entry["prefix"], argument)
    return entries


def parse(root: Path, header: Path) -> Head:
    """Parse the head comment of a header. Raises BadComment if a part is missing."""
    text = (root / header).read_text(encoding="utf-8")
    found = HEAD.match(text)
    if found is None:
        raise BadComment(f"{header}: no head comment after the SPDX line")
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
    letter = numbers[0][0]
    if numbers != [f"{letter}{number}" for number in range(1, len(numbers) + 1)]:
        raise BadComment(
            f"{header}: the invariants are {', '.join(numbers)}, not {letter}1, "
            f"{letter}2, ..."
        )
    return head


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield groups of lines of one kind: a paragraph, an invariant, or table rows."""
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
    """Return true if a line starts a block of another kind than the previous one."""
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
    word = ""  # of the current paragraph
    blocks = list(_blocks(lines))
    for index, block in enumerate(blocks):
        known, invariant = KNOWN.match(block[0]), INVARIANT.match(block[0])
        before_table = index + 1 < len(blocks) and _is_state(blocks[index + 1])
        if not head.title:
            head.title = _joined(block)
        elif _is_state(block):
            above = _joined(blocks[index - 1])
            intro = above if above.endswith(":") else ""
            head.state.append(Table(intro, _rows(block)))
            word = ""
        elif invariant:
            words = _joined([invariant["words"], *block[1:]])
            head.invariants.append((invariant["name"], words))
            word = ""
        elif known is None and before_table and block[-1].endswith(":"):
            continue  # the introduction of the table
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
    """The rows of a state table; a line deeper than the first name continues a row."""
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
