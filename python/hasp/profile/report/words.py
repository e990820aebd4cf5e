# SPDX-License-Identifier: MIT
"""Format numbers of a profile for people. `-` means not measured."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.base.durations import format_duration, three_digits

NOTHING = "-"


def count(value: float | None) -> str:
    """Return 9,999, 12.3k, 1.23M or 45.6G: at most five characters."""
    if value is None:
        return NOTHING
    if value < 9_999.5:
        whole = abs(value - round(value)) < 0.005
        return f"{value:,.0f}" if whole or value >= 1000 else three_digits(value)
    for limit, size, name in ((1e6, 1e3, "k"), (1e9, 1e6, "M"), (1e12, 1e9, "G")):
        if value < limit * 0.9995:
            return three_digits(value / size) + name
    return f"{value:.1e}"


def few(value: float | None) -> str:
    """Return a small number, such as a mean number of threads: 2.4, 120."""
    if value is None:
        return NOTHING
    if 0 < value < 0.05:
        return "<0.1"
    return f"{value:.1f}" if 0 < value < 99.95 else count(round(value))


def time(ns: float | None) -> str:
    """Return a time for sentences: 12.3 ms."""
    return NOTHING if ns is None else format_duration(ns / 1e9)


def short_time(ns: float | None, digits: int = 2) -> str:
    """Return a time for narrow columns, without a space: 12ms, 1.2ms, up to 9999s."""
    if ns is None:
        return NOTHING
    if not ns:
        return "0"
    rounded = float(f"{ns:.{digits - 1}e}")
    units = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
    size, name = next((one for one in units if rounded >= one[0]), units[-1])
    scaled = rounded / size
    decimals = 0
    while decimals < digits - 1 and scaled * 10 ** (decimals + 1) < 10**digits:
        decimals += 1
    if name == "ns":
        decimals = 0
    return f"{scaled:.{decimals}f}{name}"


def share(value: float | None, blank: str = "") -> str:
    """Return 41%, 4.2% or <0.1%; sentences have a space before the sign."""
    if value is None:
        return NOTHING
    percent = 100 * value
    if 0 < percent < 0.05:
        return f"<0.1{blank}%"
    digits = 1 if 0 < percent < 9.95 else 0
    return f"{percent:.{digits}f}{blank}%"


def quantity(value: float | None, unit: str) -> str:
    """Return a value of a metric for sentences; its unit is ns, share or count."""
    if unit == "ns":
        return time(value)
    return share(value, " ") if unit == "share" else count(value)


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """Return `1 thread` or `12 threads`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return `a, b and c`, or `a, b, c and 5 more`."""
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
