# SPDX-License-Identifier: MIT
"""Rules without a result, with the missing measures and the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hasp.profile.diagnosis.measures import measures

if TYPE_CHECKING:
    from hasp.profile.diagnosis.evaluate import Unknown


def unmeasured_lines(unknown: Sequence[Unknown]) -> list[str]:
    """Yield a line for each reason: `E9.elided: not measured (commit_share): ...`."""
    rules: dict[str, list[str]] = {}
    missing: dict[str, list[str]] = {}
    known = measures()
    for item in unknown:
        for name in item.missing:
            why = known[name].missing
            rules.setdefault(why, []).append(item.rule.id)
            missing.setdefault(why, []).append(name)
    return [
        f"{_distinct(rules[why])}: not measured ({_distinct(missing[why])}): {why}"
        for why in rules
    ]


def _distinct(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))
