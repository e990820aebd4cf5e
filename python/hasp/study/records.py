# SPDX-License-Identifier: MIT
"""JSON lines of `hasp study`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hasp.base.output import write_json

SCHEMA = "hasp.study/1"


def write_records(records: Iterable[Mapping[str, Any]], json: str) -> None:
    """Write records as JSON lines to a file, or to stdout for `-`."""
    write_json(({"schema": SCHEMA, **record} for record in records), json)
