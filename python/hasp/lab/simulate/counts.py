# SPDX-License-Identifier: MIT
"""Parses lists of numbers such as 1,2,4 and 1..80 and 10..80:10."""

from __future__ import annotations

import argparse
import re

RANGE = re.compile(r"(\d+)\.\.(\d+)(?::(\d+))?")
MOST = 4096


def parse_counts(text: str) -> list[int]:
    """Return the distinct numbers of a list, ascending.

    `A..B` doubles from A and ends with B, which shows a curve in few runs. `A..B:N`
    counts in steps of N and also ends with B. Raises ValueError.
    """
    found: set[int] = set()
    for word in text.split(","):
        word = word.strip()
        match = RANGE.fullmatch(word)
        if match:
            found |= _range(word, int(match[1]), int(match[2]), match[3])
        elif word.isdecimal():
            found.add(int(word))
        else:
            raise ValueError(f"{word!r} is neither a number nor a range such as 1..80")
    if min(found) < 1 or max(found) > MOST:
        raise ValueError(f"{text!r} has numbers outside 1 to {MOST}")
    return sorted(found)


def _range(word: str, first: int, last: int, step: str | None) -> set[int]:
    if not 1 <= first <= last <= MOST or step == "0":
        raise ValueError(f"{word!r} is not a range within 1 to {MOST}")
    if step:
        return {*range(first, last + 1, int(step)), last}
    found = {last}
    while first < last:
        found.add(first)
        first *= 2
    return found


def counts_argument(text: str) -> list[int]:
    """Parse the counts for argparse, which prints the error."""
    try:
        return parse_counts(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
