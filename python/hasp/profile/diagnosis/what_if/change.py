# SPDX-License-Identifier: MIT
"""Changes to a lock, as `hasp report --what-if` accepts them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from hasp.base.errors import HaspError

FACTOR_LIMIT = 100.0
SPLIT_LIMIT = 65536
SYNTAX = (
    "write SITE hold xFACTOR, SITE outside PERCENT%, SITE split NUMBER, "
    "SITE wait xFACTOR or SITE remove"
)
PARTS = re.compile(
    r"(?P<site>.*?)\s*\b(?:(?P<what>hold|wait|split|outside)\s+(?P<value>\S+)"
    r"|(?P<remove>remove))\s*"
)


class What(str, Enum):
    """The kinds of changes."""

    HOLD = "hold"  # every critical section takes `value` times as long
    OUTSIDE = "outside"  # the share `value` of it is done after the release instead
    SPLIT = "split"  # into `value` locks, used equally often
    WAIT = "wait"  # every wait takes `value` times as long
    REMOVE = "remove"  # the sections need no lock


@dataclass(frozen=True)
class Change:
    """One change to all locks of a site."""

    site: str  # as the user wrote it
    what: What
    value: float

    @property
    def words(self) -> str:
        """The change without the site, in the form the user writes it."""
        if self.what is What.REMOVE:
            return "remove"
        if self.what is What.SPLIT:
            return f"split {self.value:.0f}"
        if self.what is What.OUTSIDE:
            return f"outside {100 * self.value:g}%"
        return f"{self.what.value} x{self.value:g}"


def change(text: str) -> Change:
    """Return the change that `text` describes.

    Raises HaspError if it is not one, or if its value makes no sense.
    """
    found = PARTS.fullmatch(text.strip())
    if found is None:
        raise HaspError(f"--what-if {text!r} is not a change", SYNTAX)
    if not found["site"]:
        raise HaspError(
            f"--what-if {text!r} names no site", "write the site before the change"
        )
    if found["remove"]:
        return Change(found["site"], What.REMOVE, 0.0)
    what = What(found["what"])
    return Change(found["site"], what, _value(text, what, found["value"]))


def _value(text: str, what: What, word: str) -> float:
    if what is What.SPLIT:
        if not word.isdecimal() or not 2 <= int(word) <= SPLIT_LIMIT:
            raise HaspError(
                f"--what-if {text!r}: a lock cannot be split into {word!r} locks",
                f"give a number from 2 to {SPLIT_LIMIT}",
            )
        return float(word)
    if what is What.OUTSIDE:
        return _share(text, word)
    number = _number(word[1:] if word[:1] in ("x", "*") else "")
    if number is None or not 0 <= number <= FACTOR_LIMIT:
        raise HaspError(
            f"--what-if {text!r}: {word!r} is not a factor",
            f"write x0.5 for half; factors go from x0 to x{FACTOR_LIMIT:.0f}",
        )
    return number


def _share(text: str, word: str) -> float:
    number = _number(word[:-1]) if word.endswith("%") else None
    if number is None or not 0 < number <= 100:
        raise HaspError(
            f"--what-if {text!r}: {word!r} is not a part of the critical section",
            "write a percentage up to 100%: outside 80%",
        )
    return number / 100


def _number(word: str) -> float | None:
    """Return a plain decimal number, else None: `nan`, `1e9` and `-1` are none."""
    return float(word) if re.fullmatch(r"\d+\.?\d*|\.\d+", word) else None
