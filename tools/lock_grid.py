# SPDX-License-Identifier: MIT
"""The sections of a lock's page on its states and on its measured grid.

docs/images/LOCK-states.svg  the states of the lock, drawn
docs/data/LOCK-grid.jsonl    lines of `hasp bench locks --json`: the lock beside others

A page has these sections if the files exist.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hasp.lab.bench.records import load
from hasp.lab.bench.rows import Row
from hasp.statistics import ratio_of_medians
from page_markdown import paragraph, table

REFERENCES = ("glibc", "floor", "baton")
# Why a lock is ahead, where that is known.
REASONS = {
    "glk": "While one of two threads keeps the lock, `glk` releases it by a plain "
    "store, and `{name}` by a compare-and-exchange."
}
NEAR_BEST = 0.9  # of the best lock that is as fair as glibc's


def states(lock: dict[str, Any], root: Path) -> Iterator[str]:
    """Yield the picture of a lock's states."""
    file = f"{lock['name']}-states.svg"
    if (root / "docs/images" / file).exists():
        yield f"![States of {lock['name']}](../images/{file})\n"


def grid(lock: dict[str, Any], root: Path) -> Iterator[str]:
    """Yield the section that compares a lock with others in all cases."""
    path = root / "docs/data" / f"{lock['name']}-grid.jsonl"
    if not path.exists():
        return
    name = str(lock["name"])
    cases: dict[Any, dict[str, Row]] = {}
    for row in load(path).rows:
        cases.setdefault(row.case, {})[row.lock] = row
    cases = {case: rows for case, rows in cases.items() if {name, "glibc"} <= set(rows)}
    others = _others(cases, name)
    yield "## Grid\n"
    yield paragraph(
        f"Times glibc's figure, with a 95 % interval for `{name}`. **To best**: to the "
        "best of these locks that is not significantly less fair than glibc's in the "
        f"case (fewest over most acquisitions of a thread), `{name}` included. "
        "**Wait**: the longest time without the lock, times glibc's. For ratios of "
        "times, marked (t), lower is better."
    )
    headings = ("case", "load", f"**{name}**", "interval", *others, "to best", "wait")
    yield from table(headings, [_cells(case, cases[case], others) for case in cases])
    yield ""
    yield paragraph(" ".join(_conclusions(cases, name)))
    yield from _source(path)


def _others(cases: dict[Any, dict[str, Row]], name: str) -> list[str]:
    found = dict.fromkeys(lock for rows in cases.values() for lock in rows)
    return [lock for lock in found if lock != name and lock not in REFERENCES]


def _cells(case: Any, rows: dict[str, Row], others: list[str]) -> list[str]:
    name = next(lock for lock in rows if lock not in (*REFERENCES, *others))
    mine = rows[name]
    assert mine.ratio is not None
    unit = " (t)" if case.lower_is_better else ""
    interval = "-"
    if mine.ratio.low is not None and mine.ratio.high is not None:
        interval = f"{mine.ratio.low:.2f} to {mine.ratio.high:.2f}"
    best, ratio = to_best(rows, name)
    wait = mine.starvation_ratio
    watched = wait is not None and case.threads > 2
    return [
        f"{case.name}{unit}",
        case.load,
        f"**{mine.ratio.value:.2f}**",
        interval,
        *(_ratio_of(rows.get(lock)) for lock in others),
        f"{ratio:.2f}" + (f" ({best})" if best != name else ""),
        f"{wait.value:.2f}" if watched and wait is not None else "",
    ]


def _ratio_of(row: Row | None) -> str:
    return f"{row.ratio.value:.2f}" if row is not None and row.ratio else "-"


def _is_fair(row: Row) -> bool:
    fairness = row.fairness_ratio
    return fairness is None or fairness.high is None or fairness.high >= 1


def to_best(rows: dict[str, Row], name: str) -> tuple[str, float]:
    """Return the best lock that is as fair as glibc's, and the ratio to it; above 1 is
    never returned, as the lock itself takes part."""
    lower = rows[name].case.lower_is_better
    fair = {
        lock: row.value
        for lock, row in rows.items()
        if row.value
        and (lock == name or (lock not in ("floor", "baton") and _is_fair(row)))
    }
    best = min(fair, key=lambda lock: fair[lock] if lower else -fair[lock])
    pairs = [
        (theirs, ours) if lower else (ours, theirs)
        for ours, theirs in zip(rows[name].samples, rows[best].samples, strict=False)
        if ours is not None and theirs is not None
    ]
    above, below = zip(*pairs, strict=True)
    return best, ratio_of_medians(above, below).value


def _conclusions(cases: dict[Any, dict[str, Row]], name: str) -> Iterator[str]:
    near, below, behind = 0, [], []
    ahead: set[str] = set()
    for case, rows in cases.items():
        best, ratio = to_best(rows, name)
        near += ratio >= NEAR_BEST
        if ratio < NEAR_BEST:
            behind.append(f"{case.name} with {case.load} ({ratio:.2f} of {best})")
            ahead.add(best)
        mine = rows[name].ratio
        if mine is not None and _is_below(mine, lower=case.lower_is_better):
            below.append(f"{case.name} with {case.load} ({mine.value:.2f})")
    yield (
        f"`{name}` has at least {NEAR_BEST} of the best in {near} of {len(cases)} "
        "cases."
    )
    if behind:
        yield f"The others: {'; '.join(behind)}."
    for lock in sorted(ahead & set(REASONS)):
        yield REASONS[lock].format(name=name)
    if below:
        yield f"It is significantly behind glibc's mutex in: {'; '.join(below)}."
    else:
        yield "It is significantly behind glibc's mutex in none."


def _is_below(ratio: Any, *, lower: bool) -> bool:
    if ratio.low is None or ratio.high is None:
        return False
    return bool(ratio.low > 1) if lower else bool(ratio.high < 1)


def _source(path: Path) -> Iterator[str]:
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    commands = dict.fromkeys(record["command"] for record in records)
    host = records[0]["host"]
    yield paragraph(
        f"Measured by {' and '.join(f'`{command}`' for command in commands)} on "
        f"{host.get('cpu_model', 'an unknown CPU')}, {host.get('cpus_allowed', '?')} "
        f"CPUs, Linux {host.get('kernel', '?')}; see "
        "[the cases](../hasp-bench-locks.md)."
    )
    for part in records[0].get("remark", "").split("\n\n"):
        if part:
            yield paragraph(part)
