# SPDX-License-Identifier: MIT
"""The whole rewriting of a lock: all its sections, or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hasp.delegate.captures import Passing
from hasp.delegate.closed_world import unseen
from hasp.delegate.declarations import Declarations, insert_header
from hasp.delegate.edits import Edits
from hasp.delegate.hazards import hazards_of
from hasp.delegate.lock import Lock
from hasp.delegate.outline import Outline, move_exits, move_section, outline
from hasp.delegate.places import place_of
from hasp.delegate.reach import Reach
from hasp.delegate.refusal import Refusal, Refused, refuse_all
from hasp.delegate.section import Section
from hasp.delegate.sections import sections_of
from hasp.delegate.syntax import Unit
from hasp.delegate.uses import uses_of
from hasp.delegate.views import views_of
from hasp.delegate.waits import Waits
from hasp.delegate.wrapper_edits import rewrite_wrappers


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
    refusals.update(unseen(uses, units, root, style.ignored))
    reach = Reach(units)
    views = [list(views_of(each, units)) for each in sections]
    for view in chain.from_iterable(views):
        refusals.update(hazards_of(view, reach, uses.waits))
    for call in reach.cancels if sections else ():
        refusals.add(
            call.refusal("cancels a thread, which may be executing another's section")
        )
    edits = Edits(style.lines)
    outlines = _outlines(views, style, refusals)
    refusals.update(Declarations(uses, units, style.executor, edits).rewrite())
    refusals.update(Waits(uses, units, edits).rewrite(sections, style.executor))
    refusals.update(rewrite_wrappers(uses, style.executor, edits))
    if not sections and not refusals:
        refusals.add(
            uses.declarations[0].refusal("no section of the lock is in these files")
        )
    if refusals:
        raise refuse_all(str(lock), refusals)
    declaring = {node.source.path: node.source for node in uses.declarations}
    for wrapper in uses.wrappers.values():
        for node in (*wrapper.prototypes, *wrapper.empty):
            declaring[node.source.path] = node.source
    if uses.wrappers:
        declaring |= {each.source.path: each.source for each in sections}
    _move(outlines, edits)
    for path, source in declaring.items():
        first = min(edit.start for edit in edits.files[path].edits)
        insert_header(source, first, edits)
    contents = edits.contents()
    affected = [unit for unit in units if set(contents) & set(unit.files)]
    return Rewriting(lock, outlines, contents, affected)


def _outlines(
    sections: Sequence[Sequence[Section]], style: Style, refusals: set[Refusal]
) -> list[Outline]:
    """Return the outlines; what forbids one is added to the refusals."""
    made, names = [], set[str]()
    for views in sorted(sections, key=lambda v: (str(v[0].source.path), v[0].start)):
        name = _name(views[0], names)
        try:
            result, problems = outline(views, name, style.lines)
        except Refused as refused:
            refusals.add(refused.refusal)
            continue
        refusals.update(problems)
        made.append(result)
    refusals.update(_nest(made))
    return made


def _nest(outlines: Sequence[Outline]) -> Iterator[Refusal]:
    """Mark the sections inside others; yield why they cannot be there."""
    for inner in outlines:
        for outer in outlines:
            if inner is outer or not outer.section.surrounds(inner.section):
                continue
            inner.is_nested = True
            names = {each.usr for each in inner.captures}
            for each in outer.captures:
                if each.passing is Passing.ADDRESS and each.usr in names:
                    yield inner.section.lock.node.refusal(
                        f"{each.name} is passed by address to nested sections",
                        "use a pointer to it in both",
                    )


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


def _move(outlines: Sequence[Outline], edits: Edits) -> None:
    """Move the sections out of their functions, and inner ones before outer ones."""
    exits = [(each, made) for made in outlines for each in made.section.exits]
    for leaving, made in sorted(exits, key=lambda pair: pair[0].end - pair[0].start):
        move_exits(made, leaving, edits)
    nested = [made for made in outlines if made.is_nested]
    nested.sort(key=lambda made: made.section.end - made.section.start)
    for made in (*nested, *(made for made in outlines if not made.is_nested)):
        move_section(made, place_of(made.section.function), edits)
