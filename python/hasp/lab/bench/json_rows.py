# SPDX-License-Identifier: MIT
"""Reads a file of rows written by `hasp bench --json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from hasp.base.errors import HaspError

T = TypeVar("T")


def read(
    path: Path, benchmark: str, row_of: Callable[[dict[str, Any]], T]
) -> list[tuple[T, dict[str, Any]]]:
    """Return each row with its JSON object.

    `row_of` raises ValueError, KeyError or TypeError for an object that is not a row of
    `hasp bench BENCHMARK`; this function then raises HaspError.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise HaspError(
            f"{path} cannot be read: {problem.strerror}",
            "name a file written with --json",
        ) from None
    try:
        records = [json.loads(line) for line in lines if line.strip()]
        found = [(row_of(record), record) for record in records]
    except (ValueError, KeyError, TypeError) as problem:
        raise HaspError(
            f"{path} was not written by `hasp bench {benchmark} --json` ({problem})",
            "name a file written with --json",
        ) from None
    if not found:
        raise HaspError(f"{path} contains no rows", "measure again")
    return found
