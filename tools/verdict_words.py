# SPDX-License-Identifier: MIT
"""Finds cause and remedy in verdicts written before the causes had names.

Each of those verdicts was one sentence. The first diagnosis in it that maps to a cause
counts, and the first advice that maps to a remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

CAUSES = {
    "locks are not your bottleneck": "not-locks",
    "holder preemption": "preempted-holder",
    "hardly any waiting": "tiny-section",
    "lock handover": "convoy",
    "trylock": "trylock-loop",
    "memory footprint": "idle-locks",
    "extreme contention": "long-section",
    "high contention": "long-section",
}
REMEDIES = {
    "run no more threads than CPUs": "fewer-threads",
    "split the lock": "spread-keys",
    "shorten": "shorten-section",
    "try the algorithm u-scl": "fair-lock",
    "try the algorithm": "unfair-lock",
}
DOUBT = "record again on an idle machine"
LOCK = re.compile(r"[\w./-]+\.(?:c|cpp):\d+ [^;,]*?(?=: |;|,|$)")


def verdict_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report's verdict as a record, also if it is only a sentence."""
    verdict = report["verdict"]
    if isinstance(verdict, str):
        doubtful = any(DOUBT in hint for hint in report.get("hints", ()))
        verdict = {**_parse(verdict), "confidence": "low" if doubtful else None}
    names = ("sentence", "cause", "lock", "holder", "remedy", "saves", "confidence")
    return {name: verdict.get(name) for name in names}


def _parse(sentence: str) -> dict[str, Any]:
    cause = _first(sentence, CAUSES)
    lock = LOCK.search(sentence)
    return {
        "sentence": sentence,
        "cause": cause,
        "lock": lock[0] if lock and cause != "not-locks" else None,
        "remedy": _first(sentence, REMEDIES) or "none",
    }


def _first(sentence: str, table: Mapping[str, str]) -> str:
    found = [(sentence.find(words), name) for words, name in table.items()]
    return min(((at, name) for at, name in found if at >= 0), default=(0, ""))[1]
