# SPDX-License-Identifier: MIT
"""Parse and format sizes with units: 64k, 256M, 1G, 256 MiB."""

from __future__ import annotations

import argparse
import re

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_PATTERN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Return the bytes in `64k`, `256M` or `1.5 GiB`; a number without unit is bytes.

    Raises ValueError for anything else.
    """
    match = _PATTERN.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a size: write 64M, 256MiB or 1G")
    return int(float(match.group(1)) * _UNITS[match.group(2).lower()])


def size_argument(text: str) -> int:
    """Parse a size for argparse; the error shows the format."""
    try:
        return parse_size(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def format_size(size: float) -> str:
    """Return the size with three digits and a unit: 512 bytes, 64 KiB, 1.5 GiB."""
    for unit, limit in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= limit:
            return f"{size / limit:.3g} {unit}"
    return f"{size:.0f} bytes"
