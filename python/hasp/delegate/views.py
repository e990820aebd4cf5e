# SPDX-License-Identifier: MIT
"""A section as each compile command sees it, with its own macros and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hasp.delegate.section import Section
from hasp.delegate.syntax import Node, Unit


def views_of(section: Section, units: Sequence[Unit]) -> Iterator[Section]:
    """Yield a section, and the same in units whose options differ."""
    yield section
    path = section.source.path
    seen = {tuple(section.source.unit.command.options)}
    for unit in units:
        options = tuple(unit.command.options)
        if path not in unit.sources or options in seen:
            continue
        seen.add(options)
        other = _in_unit(section, unit)
        if other:
            yield other


def _in_unit(section: Section, unit: Unit) -> Section | None:
    source = unit.sources[section.source.path]
    function = _same(section.function, source.functions)
    if function is None:
        return None
    block = _same(section.block, function.walk())
    if block is None:
        return None
    starts = {node.start for node in section.nodes}
    first = min(starts, default=section.start)
    nodes = [node for node in block.children if first <= node.start < section.end]
    exits = [
        replace(each, block=_same(each.block, function.walk()) or each.block)
        for each in section.exits
    ]
    return replace(section, function=function, block=block, nodes=nodes, exits=exits)


def _same(node: Node, others: Sequence[Node] | Iterator[Node]) -> Node | None:
    """Return the node at the same place in another tree."""
    return next(
        (
            each
            for each in others
            if (each.kind, each.start, each.end) == (node.kind, node.start, node.end)
        ),
        None,
    )
