#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write docs/validation.md from docs/data/validation.jsonl.

That file comes from `hasp simulate --validate --json docs/data/validation.jsonl`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/validation.jsonl"
PAGE = ROOT / "docs/validation.md"
sys.path.insert(0, str(ROOT / "python"))

from hasp.lab.simulate.validation.claim import KINDS  # noqa: E402
from hasp.lab.simulate.validation.scope import (  # noqa: E402
    CLAIMS,
    OUT_OF_SCOPE,
    Score,
    as_shipped,
    scores,
)
from hasp.lab.simulate.validation.verdicts import from_record  # noqa: E402

HEAD = """\
# What the simulator agrees with

Made by `tools/make_validation_page.py` from the results of

    hasp simulate --validate --json docs/data/validation.jsonl

Every figure under *published form* and *Hasp's lock* is simulated. A numeric claim
agrees within 25 %; an order is a tie within 5 %.

A claim about a lock is about the lock of a paper, whose layout and policy Hasp's lock
of that name often does not have (any thread may unlock it, a timed waiter may leave, it
fits into a mutex). So such a claim is asked twice: of the published form, as the papers
and their libraries have it (`src/bench/published`, which is in no program but the
validation's), and of the lock that ships. The first tells whether the model of the
machine is right, and is what the levels are about; the second, how Hasp's lock differs.

What each kind is worth:

- **by-table**: the machine file has the figure or its parts, so agreement says that the
  engine works, not that the model is good;
- **fitted**: a constant of the model was chosen by this very claim;
- **predicted**: neither; this is what the model is worth;
- **ordering**: which of two is larger.

The [constants](machines.md#constants) were frozen and committed after the Opteron, the
Xeon and the A-64 had been looked at, before the Niagara and the Tilera were run for any
claim. None was changed since.

The published forms are no blind prediction. Written from the papers alone, 32 of the 54
numeric claims agreed (18 of 40 predicted), and 21 of 25 orders with 6 ties. Four more
numeric ones do since: S32, for which they got what libslock does (slots closed by
the release, fetches for writing, pointers in memory); T42 twice, for which they got the
mutex that LiTL takes as well; and S3, whose experiment compared throughputs, and now
compares scalabilities, as the paper does. S54 on the Opteron became a tie when servers
fetched ahead there, as SSYNC's library does. S32 (15.3 of 15.6) and S35 on the Tilera
(150 of 150) agree by very little.
"""

WORDS = {True: "yes", False: "**no**", None: "tie"}


def page(records: list[dict[str, Any]]) -> str:
    """The whole page."""
    verdicts = [from_record(record) for record in records]
    parts = [HEAD, "\n## Levels\n", levels(scores(verdicts))]
    parts += ["\nThe same with Hasp's own locks:\n"]
    parts.append(levels(scores(as_shipped(verdicts))))
    parts.append("\nPublished forms, by machine and kind:\n")
    parts.append(by_machine(records))
    for kind in KINDS:
        own = [record for record in records if record["kind"] == kind]
        parts += [f"\n## {kind.capitalize()}\n", table(own)]
    parts += ["\n## Misses, and why\n", misses(records)]
    shipped = [
        {**record, **record["shipped"]} for record in records if record["shipped"]
    ]
    parts += ["\n## Misses of Hasp's own locks, and why\n", misses(shipped)]
    parts += ["\n## Not asked\n"]
    parts += [f"- {identity}: {reason}." for identity, reason in OUT_OF_SCOPE.items()]
    return "\n".join(parts) + "\n"


def levels(found: list[Score]) -> str:
    """What was to be reached."""
    lines = ["| level | agree | of | ties | share | must | goal | reached |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|---|")
    for score in found:
        counted = score.agree + score.disagree
        lines.append(
            f"| {score.level.name} | {score.agree} | {counted} | {score.ties} "
            f"| {score.share:.0%} | {score.level.must:.0%} | {score.level.goal:.0%} "
            f"| {score.reached} |"
        )
    return "\n".join(lines)


def by_machine(records: list[dict[str, Any]]) -> str:
    """Agreeing of asked, so that no sum hides where the misses are."""
    machines = list(dict.fromkeys(record["machine"] for record in records))
    lines = [f"| machine | {' | '.join(KINDS)} |", "|---|" + "--:|" * len(KINDS)]
    for machine in machines:
        cells = []
        for kind in KINDS:
            own = [
                record["agrees"]
                for record in records
                if record["machine"] == machine and record["kind"] == kind
            ]
            cells.append(f"{own.count(True)} of {len(own)}" if own else "")
        lines.append(f"| `{machine}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def table(records: list[dict[str, Any]]) -> str:
    """The claims of a kind."""
    lines = [
        "| claim | machine | says | paper | published form | agrees "
        "| Hasp's lock | agrees |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for record in records:
        paper = "" if record["paper"] == record["claim"] else record["paper"]
        shipped = record["shipped"]
        lines.append(
            f"| {record['id']} | {record['machine']} | {record['claim']} | {paper} "
            f"| {record['simulated']} | {WORDS[record['agrees']]} "
            + (
                f"| {shipped['simulated']} | {WORDS[shipped['agrees']]} |"
                if shipped
                else "| | |"
            )
        )
    return "\n".join(lines)


def misses(records: list[dict[str, Any]]) -> str:
    """Each miss with what is known of its cause."""
    return "\n".join(
        f"- **{record['id']}** ({record['machine']}): {one_line(record['why'])}."
        for record in records
        if record["agrees"] is False
    )


def one_line(text: str) -> str:
    """Without the end of a sentence, and on a line."""
    return " ".join(text.split()).rstrip(".")


def main() -> int:
    """Write the page; with --check say whether it is as the data have it."""
    records = [json.loads(line) for line in DATA.read_text().splitlines()]
    known = {(claim.id, claim.machine) for claim in CLAIMS}
    asked = {(record["id"], record["machine"]) for record in records}
    if known != asked:
        print(f"{DATA}: not the claims of today: {known ^ asked}", file=sys.stderr)
        return 1
    text = page(records)
    if sys.argv[1:] == ["--check"]:
        return int(PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
