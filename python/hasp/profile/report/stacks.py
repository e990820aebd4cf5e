# SPDX-License-Identifier: MIT
"""Stacks with the time waited or held: folded lines, and speedscope's JSON.

The leaf frame is the lock, so that a flame graph shows which lock is acquired where.
Times are sums over all threads: ten threads waiting a second make ten seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hasp import version
from hasp.profile.model.profile import Profile, Weight
from hasp.profile.report.findings import Names
from hasp.profile.symbols.frame import Frame

KINDS = ("wait", "hold")
SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


def time_of(weight: Weight, kind: str) -> int:
    """Return the wait or hold time in ns."""
    return weight.wait_ns if kind == "wait" else weight.hold_ns


def label(frame: Frame) -> str:
    """Return a function's name, or its address if it has none."""
    return (
        frame.function or f"{frame.module.rsplit('/', 1)[-1] or '?'}+{frame.offset:#x}"
    )


def sums(profile: Profile, kind: str) -> dict[tuple[str, ...], int]:
    """Return time in ns by stack, from the outermost function to the lock's site."""
    names = Names(profile)
    found: dict[tuple[str, ...], int] = {}
    for weight in profile.weights:
        value = time_of(weight, kind)
        if value > 0:
            calls = [label(frame) for frame in reversed(weight.stack)]
            key = (*calls, _site(names, weight.lock))
            found[key] = found.get(key, 0) + value
    return found


def _site(names: Names, lock: int) -> str:
    site = names.site(lock)
    return site.name if site else "lock without a site"


def folded(profile: Profile, kind: str) -> str:
    """Return lines such as `main;work;db_put;db.c:88 &db->mu 1234`, in microseconds.

    This is the format of flamegraph.pl and most flame graph viewers.
    """
    lines = []
    for key, value in sorted(sums(profile, kind).items()):
        # Semicolons separate frames.
        path = ";".join(word.replace(";", ":").replace("\n", " ") for word in key)
        lines.append(f"{path} {max(1, round(value / 1000))}\n")
    return "".join(lines)


def speedscope(profile: Profile) -> dict[str, Any]:
    """Return wait and hold times as two profiles in speedscope's format."""
    frames: dict[tuple[str, str | None, int | None], int] = {}
    names = Names(profile)
    parts = []
    for kind in KINDS:
        stacks, weights = [], []
        for weight in profile.weights:
            value = time_of(weight, kind)
            if value <= 0:
                continue
            keys = [(label(one), one.file, one.line) for one in reversed(weight.stack)]
            keys.append((_site(names, weight.lock), None, None))
            stacks.append([frames.setdefault(key, len(frames)) for key in keys])
            weights.append(value)
        parts.append(
            {
                "type": "sampled",
                "name": f"{kind} time",
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": stacks,
                "weights": weights,
            }
        )
    return {
        "$schema": SPEEDSCOPE,
        "version": version(),
        "exporter": f"hasp {version()}",
        "name": " ".join(profile.command) or profile.executable,
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(key) for key in frames]},
        "profiles": parts,
    }


def _frame(key: tuple[str, str | None, int | None]) -> Mapping[str, str | int]:
    name, file, line = key
    frame: dict[str, str | int] = {"name": name}
    if file:
        frame["file"] = file
    if line:
        frame["line"] = line
    return frame


def speedscope_text(profile: Profile) -> str:
    """Return the file's content."""
    return json.dumps(speedscope(profile), ensure_ascii=True) + "\n"
