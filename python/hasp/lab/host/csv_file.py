# SPDX-License-Identifier: MIT
"""Writes all figures as CSV, one per line, with the same columns for every kind."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from hasp.base.files import replacing
from hasp.lab.host.target import Row

KINDS = (
    *("pair", "line", "crowd", "load", "wait", "wakeup", "atomic", "message"),
    "energy",
)
# The columns that identify a figure, then its values.
NAMES = (
    *("kind", "operation", "pattern", "name", "level", "way", "state", "relation"),
    *("cpu", "holder", "sharers", "threads", "bytes", "idle_us", "cycles", "ns"),
    *("spread_cycles", "low_cycles", "high_cycles", "samples", "outliers"),
    *("lost_overlap", "throughput_mops", "watts", "absent"),
)


def write(rows: Sequence[Row], path: Path) -> None:
    """Write the figures among `rows` to `path`."""
    with replacing(path) as new, new.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, NAMES, extrasaction="ignore", restval="")
        writer.writeheader()
        writer.writerows(row for row in rows if row["kind"] in KINDS)
