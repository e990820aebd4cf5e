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
# Validation of the simulator

`tools/make_validation_page.py` writes this page from the results of

    hasp simulate --validate --json docs/data/validation.jsonl

The results are the same bytes on every host and with every compiler. All figures under
*published form* and *Hasp's lock* are simulated. A numeric claim agrees if the figure
is within 25 %; an ordering within 5 % is a tie.

A claim about a lock refers to the lock of a paper. Hasp's lock of the same name often
differs in layout and policy: any thread may unlock it, a timed waiter may leave, and
it fits into a mutex. Claims about locks are therefore tested twice: with the
published form, as in the papers and their libraries (`src/bench/published`, which only
the validation uses), and with the lock that Hasp ships. The first result shows
whether the model of the machine is right, and determines the levels; the second shows
how Hasp's lock differs.

There are four kinds of claims:

- **by-table**: the machine file contains the figure or its parts, so agreement shows
  that the engine works, not that the model is good;
- **fitted**: a constant of the model or of the machine file was chosen to match the
  claim;
- **predicted**: neither applies; these claims show how good the model is;
- **ordering**: the claim states which of two figures is larger.

The [constants](machines.md#constants) were frozen and committed after experiments on
the Opteron, the Xeon and the A-64, before any claim was tested on the Niagara and the
Tilera. None has been changed since; `model.misses_in_flight` was added.

Where a paper states a claim in words, the claim is tested as a number if possible. "An
order of magnitude" (S37) is a factor of 10, within 25 %, as the geometric mean of all
locks; the median lock is lower by a factor of only 6. A "severe" degradation (S46) is
at least a factor of 2, the smallest that the paper gives for crossing sockets; the
simulator does not show it.

The published forms are not a blind prediction. When they were written from the papers
alone, 32 of the 54 numeric claims agreed (18 of the 40 then counted as predicted), and
21 of 25 orderings, with 6 ties. Four more numeric claims have agreed since then: S32,
after the forms were changed to do what libslock does (slots closed by the release,
prefetches for writing, pointers in memory); T42 twice, after the forms took the
program's mutex as LiTL does; and S3, whose experiment compared throughputs and now
compares speed-ups, as the paper does. S54 on the Opteron became a tie when its servers
were made to prefetch, as in SSYNC's library. S32 and S35 on the Tilera agree by a very
small margin. Later, S19 and S25 were reclassified from predicted to fitted, S37 and S46
were given the numbers above, and the homes of static data were made independent of the
linker. When independent misses of a core began to overlap, S54 on the Xeon became a
tie, and S53 moved by less than a seventh. Few claims depend on it: most critical
sections of the papers write one line. When the lock study's forms got the layout of its
library (a queue node has two lines), T48 for MCS, which was missed, moved further away,
from 1,168 cycles to 1,392.
"""

WORDS = {True: "yes", False: "**no**", None: "tie"}


def page(records: list[dict[str, Any]]) -> str:
    """Return the text of the page."""
    verdicts = [from_record(record) for record in records]
    parts = [HEAD, "\n## Levels\n", levels(scores(verdicts))]
    parts += ["\nWith Hasp's own locks:\n"]
    parts.append(levels(scores(as_shipped(verdicts))))
    parts.append("\nPublished forms, by machine and kind:\n")
    parts.append(by_machine(records))
    for kind in KINDS:
        own = [record for record in records if record["kind"] == kind]
        parts += [f"\n## {kind.capitalize()}\n", table(own)]
    parts += ["\n## Misses and their causes\n", misses(records)]
    parts += ["\n## Misses with Hasp's own locks\n", OWN_MISSES]
    for title, agrees in (("Both forms", False), ("Only Hasp's locks", True)):
        shipped = [
            {**record, **record["shipped"]}
            for record in records
            if record["shipped"] and (record["agrees"] is True) is agrees
        ]
        parts += [f"\n### {title}\n", misses(shipped)]
    parts += ["\n## Not tested\n"]
    parts += [f"- {identity}: {reason}." for identity, reason in OUT_OF_SCOPE.items()]
    return "\n".join(parts) + "\n"


OWN_MISSES = """\
Where the published form misses a claim, too, the cause is mostly in the model of the
machine (for T42 and T44, the published form lacks the operation). Where only Hasp's
lock does, the cause is in the lock."""


def levels(found: list[Score]) -> str:
    """Return the table of levels."""
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
    """Return the table of agreeing claims by machine and kind."""
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
    """Return the table of the claims of a kind."""
    lines = [
        "| claim | machine | text | paper | published form | agrees "
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
    """Return the list of misses with their causes."""
    return "\n".join(
        f"- **{record['id']}** ({record['machine']}): {one_line(record['why'])}."
        for record in records
        if record["agrees"] is False
    )


def one_line(text: str) -> str:
    """Return the text on one line, without a final full stop."""
    return " ".join(text.split()).rstrip(".")


def main() -> int:
    """Write the page, or with --check compare it. Returns the exit status."""
    records = [json.loads(line) for line in DATA.read_text().splitlines()]
    known = {(claim.id, claim.machine) for claim in CLAIMS}
    asked = {(record["id"], record["machine"]) for record in records}
    if known != asked:
        print(f"{DATA}: claims differ: {known ^ asked}", file=sys.stderr)
        return 1
    text = page(records)
    if sys.argv[1:] == ["--check"]:
        return int(PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
