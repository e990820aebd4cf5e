# SPDX-License-Identifier: MIT
"""A file of rows that `hasp bench` wrote with --json, read again."""

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
    """Each row with the object that it was; or an error.

    `row_of` raises ValueError, KeyError or TypeError for what is no row of `hasp bench
    BENCHMARK`.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise HaspError(
            f"{path} cannot be read: {problem.strerror}", "name a file of --json"
        ) from None
    try:
        records = [json.loads(line) for line in lines if line.strip()]
        found = [(row_of(record), record) for record in records]
    except (ValueError, KeyError, TypeError) as problem:
        raise HaspError(
            f"{path} is not what `hasp bench {benchmark} --json` writes ({problem})",
            "name a file of --json",
        ) from None
    if not found:
        raise HaspError(f"{path} holds no row", "measure again")
    return found
