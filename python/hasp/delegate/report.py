# SPDX-License-Identifier: MIT
"""What `hasp delegate` prints about a rewriting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hasp.delegate.captures import Capture, Passing
from hasp.delegate.outline import Outline
from hasp.delegate.rewriting import Rewriting
from hasp.delegate.trial import Trial

SCHEMA = "hasp.delegate/1"
POINTER = 8  # bytes


def text(rewriting: Rewriting, executor: str, root: Path) -> Iterator[str]:
    """Yield the lines of the report."""
    count = len(rewriting.outlines)
    sections = "1 section" if count == 1 else f"{count} sections"
    yield f"{rewriting.lock}: {sections}, executor {executor}"
    for made in rewriting.outlines:
        section = made.section
        place = f"{section.source.name}:{section.lock.node.line}"
        yield f"  {place} {section.function.name}()"
        yield f"    becomes {made.name}(), context {context_bytes(made)} bytes"
        for words, names in _passed(made):
            yield f"    {words}: {', '.join(names)}"
        if made.results:
            names = [each.name for each in made.results]
            yield f"    returned to the function: {', '.join(names)}"
        if section.exits:
            lines = [str(each.unlock.call.line) for each in section.exits]
            yield f"    exits: {'line' if len(lines) == 1 else 'lines'} " + ", ".join(
                lines
            )
    files = [str(path.relative_to(root)) for path in rewriting.contents]
    yield f"files: {', '.join(files)}"


def _passed(made: Outline) -> Iterator[tuple[str, list[str]]]:
    for passing in Passing:
        names = [each.name for each in made.captures if each.passing is passing]
        if names:
            yield passing.value, names


def context_bytes(made: Outline) -> int:
    """Return the size of a section's context in bytes, without padding."""
    sizes = [_size(each) for each in made.captures]
    sizes += [max(0, each.kind.get_size()) for each in made.results]
    return sum(sizes) + 4 + (4 if made.section.exits else 0)


def _size(capture: Capture) -> int:
    if capture.passing is Passing.VALUE:
        return max(0, int(capture.kind.get_size()))
    return POINTER


def trials_text(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a line for each run of the tests."""
    for trial in trials:
        result = f"exit status {trial.status}" if trial.status else "ok"
        yield f"check with {trial.executor}: {result}, {trial.seconds:.1f} s"
        if trial.status:
            yield trial.output


def records(
    rewriting: Rewriting, executor: str, root: Path, trials: Sequence[Trial]
) -> Iterator[dict[str, Any]]:
    """Yield one record for each section."""
    files = [str(path.relative_to(root)) for path in rewriting.contents]
    checks = [
        {
            "executor": trial.executor,
            "status": trial.status,
            "seconds": round(trial.seconds, 3),
        }
        for trial in trials
    ]
    for made in rewriting.outlines:
        section = made.section
        yield {
            "schema": SCHEMA,
            "lock": rewriting.lock.name,
            "site": f"{rewriting.lock.file}:{rewriting.lock.line}",
            "executor": executor,
            "file": section.source.name,
            "line": section.lock.node.line,
            "function": section.function.name,
            "section": made.name,
            "context_bytes": context_bytes(made),
            "captures": [
                {
                    "name": each.name,
                    "passing": each.passing.name.lower(),
                    "written": each.is_written,
                }
                for each in made.captures
            ],
            "results": [each.name for each in made.results],
            "exits": [each.unlock.call.line for each in section.exits],
            "files": files,
            "checks": checks,
        }
