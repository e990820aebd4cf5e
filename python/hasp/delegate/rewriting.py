# SPDX-License-Identifier: MIT
"""The whole rewriting of a lock: all its sections, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.delegate.closed_world import unseen
from hasp.delegate.declarations import Declarations, insert_header
from hasp.delegate.edits import Edits
from hasp.delegate.hazards import hazards_of
from hasp.delegate.lock import Lock
from hasp.delegate.outline import Outline, call_text, function_text, outline
from hasp.delegate.reach import Reach
from hasp.delegate.refusal import Refusal, Refused, refuse_all
from hasp.delegate.section import Section
from hasp.delegate.sections import sections_of
from hasp.delegate.syntax import Node, Unit
from hasp.delegate.tokens import line_start
from hasp.delegate.uses import uses_of


@dataclass
class Rewriting:
    """What changes: the files, and the sections that are outlined."""

    lock: Lock
    outlines: list[Outline]
    contents: dict[Path, bytes]
    units: list[Unit]  # that include a file that changes


@dataclass(frozen=True)
class Style:
    """How the rewritten source looks."""

    executor: str = "adaptive"
    lines: bool = False  # #line directives that name the original source
    ignored: tuple[Path, ...] = ()


def rewrite(lock: Lock, units: Sequence[Unit], root: Path, style: Style) -> Rewriting:
    """Return the rewriting of a lock.

    Raises HaspError with each reason if one of its sections cannot be rewritten, or if
    some of them cannot be seen.
    """
    uses = uses_of(lock, units)
    refusals = set(uses.refusals)
    sections, unpaired = sections_of(uses)
    refusals.update(unpaired)
    refusals.update(unseen(lock, uses, units, root, style.ignored))
    reach = Reach(units)
    for section in sections:
        refusals.update(hazards_of(section, reach))
    for call in reach.cancels if sections else ():
        refusals.add(
            call.refusal("cancels a thread, which may be executing another's section")
        )
    edits = Edits(style.lines)
    outlines = _outlines(sections, style, refusals)
    refusals.update(Declarations(uses, style.executor, edits).rewrite())
    if not sections and not refusals:
        refusals.add(
            uses.declarations[0].refusal("no section of the lock is in these files")
        )
    if refusals:
        raise refuse_all(str(lock), refusals)
    declaring = {node.source.path: node.source for node in uses.declarations}
    for made in outlines:
        _edit(made, edits)
    for path, source in declaring.items():
        first = min(edit.start for edit in edits.files[path].edits)
        insert_header(source, first, edits)
    contents = edits.contents()
    affected = [unit for unit in units if set(contents) & set(unit.files)]
    return Rewriting(lock, outlines, contents, affected)


def _outlines(
    sections: Sequence[Section], style: Style, refusals: set[Refusal]
) -> list[Outline]:
    """Return the outlines; what forbids one is added to the refusals."""
    made, names = [], set[str]()
    for section in sorted(sections, key=lambda one: (str(one.source.path), one.start)):
        name = _name(section, names)
        try:
            result, problems = outline(section, name, style.lines)
        except Refused as refused:
            refusals.add(refused.refusal)
            continue
        refusals.update(problems)
        made.append(result)
    return made


def _name(section: Section, taken: set[str]) -> str:
    """Return a name for the outlined function that the file does not use."""
    words = section.source.words
    base, number = f"{section.function.name}_section", 1
    name = base
    while name.encode() in words or name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name


def _edit(made: Outline, edits: Edits) -> None:
    section = made.section
    edits.insert(section.source, _place(section.function), function_text(made))
    edits.replace(section.source, section.lock.node.start, section.end, call_text(made))


def _place(function: Node) -> int:
    """Return where to insert a function: in front of another one and its comment."""
    text = function.source.text
    place = line_start(text, function.start)
    while place > 0:
        begin = line_start(text, place - 1)
        line = text[begin : place - 1].strip()
        if line.endswith(b"*/"):
            opening = text.rfind(b"/*", 0, place)
            if opening < 0 or text[line_start(text, opening) : opening].strip():
                break
            place = line_start(text, opening)
        elif line.startswith(b"//"):
            place = begin
        else:
            break
    return place
