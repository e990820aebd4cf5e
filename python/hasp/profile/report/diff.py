# SPDX-License-Identifier: MIT
"""Carries out `hasp diff`: reads both sides, compares them and shows the changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.base.errors import EXIT_FINDING, EXIT_FINE, HaspError
from hasp.base.output import STDOUT, check_writable, note, write_json
from hasp.profile.report.change_conditions import ChangeCondition
from hasp.profile.report.difference import difference
from hasp.profile.report.difference_text import document, print_difference
from hasp.profile.report.headline import empty_words, is_empty
from hasp.profile.report.source import open_profile

SIDES = "write hasp diff A B, or hasp diff A1,A2:B1,B2 for several runs of each"


@dataclass(frozen=True)
class Options:
    """The options of `hasp diff`."""

    traces: list[str]  # A and B, or A1,A2:B1,B2
    conditions: Sequence[ChangeCondition] = ()
    top: int | None = None  # number of locks; None: all
    json: str | None = None


def diff(options: Options) -> int:
    """Print the changes between two sides; return 1 if a condition holds, else 0."""
    if options.json:
        check_writable(options.json)
    before, after = groups(options.traces)
    sides = [[open_profile(path) for path in side] for side in (before, after)]
    for path, profile in zip((*before, *after), (*sides[0], *sides[1]), strict=True):
        if is_empty(profile):
            note(f"{path}: {empty_words(profile)}")
    found = difference(sides[0], sides[1])
    if options.json:
        write_json([document(found)], options.json)
    if options.json != STDOUT:
        print_difference(found, options.top)
    for one in options.conditions:
        if one.unmatched(found):
            note(f"--fail-if {one.text!r} checked nothing: no lock matches")
    failures = [said for one in options.conditions for said in one.fails(found)]
    for sentence in failures:
        note(sentence)
    return EXIT_FINDING if failures else EXIT_FINE


def groups(words: list[str]) -> tuple[list[Path], list[Path]]:
    """Return the traces of both sides."""
    if len(words) == 1 and ":" in words[0] and not Path(words[0]).exists():
        words = words[0].split(":")
    if len(words) != 2:
        raise HaspError(f"a comparison needs two sides, not {len(words)}", SIDES)
    before, after = (_files(word) for word in words)
    if not before or not after:
        raise HaspError(f"{':'.join(words)}: one side has no trace", SIDES)
    if (len(before) == 1) != (len(after) == 1):
        raise HaspError(
            "one side has one run, the other has several",
            "profile both sides several times, or name one trace of each",
        )
    for side in (before, after):
        if len(set(side)) < len(side):
            raise HaspError(
                f"{','.join(map(str, side))}: a trace is named twice on one side",
                "name each trace once: a run must not be counted twice",
            )
    return before, after


def _files(word: str) -> list[Path]:
    if word and Path(word).exists():
        return [Path(word)]
    return [Path(part) for part in word.split(",") if part]
