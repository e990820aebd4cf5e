# SPDX-License-Identifier: MIT
"""Parse and format durations with units: 10s, 500us, 2m."""

from __future__ import annotations

import argparse
import re

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0}
_SECONDS |= {"m": 60.0, "min": 60.0, "h": 3600.0}
_PATTERN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([a-zµ]*)\s*")


def parse_duration(text: str) -> float:
    """Return the seconds in `500us`, `10s` or `1.5m`; a number without unit is seconds.

    Raises ValueError for anything else.
    """
    match = _PATTERN.fullmatch(text)
    if not match or match.group(2) not in _SECONDS:
        raise ValueError(
            f"{text!r} is not a duration: write 10s, 500us, 200ms, 2m or 1h"
        )
    return float(match.group(1)) * _SECONDS[match.group(2)]


def duration_argument(text: str) -> float:
    """Parse a positive duration for argparse; the error shows the format."""
    try:
        seconds = parse_duration(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} must be longer than zero")
    return seconds


def format_duration(seconds: float) -> str:
    """Return the duration with three digits and a unit: 12.3 ms, 4.56 s, 2 min 05 s."""
    if seconds != seconds:
        return "-"
    if seconds >= 3599.5:
        minutes = round(seconds / 60)
        return f"{minutes // 60} h {minutes % 60:02d} min"
    if seconds >= 119.5:
        whole = round(seconds)
        return f"{whole // 60} min {whole % 60:02d} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size * 0.9995:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds / 1e-9)} ns" if seconds else "0 s"


def three_digits(value: float) -> str:
    """Return `value` with three significant digits, no exponent: 0.123, 12.3, 1230."""
    if value == 0 or value != value:
        return "0" if value == 0 else "-"
    for limit, decimals in ((0.09995, 4), (0.9995, 3), (9.995, 2), (99.95, 1)):
        if abs(value) < limit:
            return f"{value:.{decimals}f}"
    return f"{value:.0f}"
