#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare Hasp's locks with their published forms on simulated machines.

    PYTHONPATH=python tools/measure_scaling.py --locks cna --machines xeon-80
    PYTHONPATH=python tools/measure_scaling.py --json docs/data/scaling.json

The first command prints a table; the second, after some minutes, also writes the data
of docs/scaling.md (tools/make_scaling_page.py). The columns are millions of operations
a second, their ratio, and transfers of cache lines for each operation.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.lab.simulate.counts import counts_argument
from hasp.lab.simulate.validation.lab import Lab
from hasp.lab.simulate.validation.lock_sets import Form
from hasp.lab.simulate.validation.scaling import (
    LOCK_COUNTS,
    MACHINES,
    PAPER_RATIOS,
    PUBLISHED,
    Result,
    cells,
    laboratory,
    measure,
    ratio_to_mcs,
)

HEAD = ("machine", "lock", "threads", "locks", "shipped", "published", "ratio", "lines")
FORM = "{:<11} {:<14} {:>7} {:>6} {:>9} {:>9} {:>6}  {}"


def line(result: Result) -> str:
    """Return a row of the table."""
    cell = result.cell
    return FORM.format(
        cell.machine,
        cell.lock,
        cell.threads,
        cell.locks,
        f"{result.shipped:.3f}",
        f"{result.published:.3f}",
        f"{result.ratio:.2f}",
        f"{result.published_transfers:.1f} -> {result.shipped_transfers:.1f}",
    )


def names(text: str) -> list[str]:
    """Split a list of names."""
    return text.split(",")


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--locks", type=names, default=list(PUBLISHED), metavar="LIST")
    add("--machines", type=names, default=list(MACHINES), metavar="LIST")
    add("--threads", type=counts_argument, metavar="LIST", help="1, 12, 24, all CPUs")
    add("--lock-counts", type=counts_argument, default=list(LOCK_COUNTS), metavar="N,N")
    add("--seeds", type=counts_argument, default=[1], metavar="LIST")
    add("--duration-us", type=int, default=1000, metavar="N", help="simulated")
    add("--jobs", type=int, metavar="N")
    add("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def main() -> int:
    """Print the table, and write the file if there is one."""
    given = arguments()
    unknown = set(given.locks) - set(PUBLISHED)
    if unknown:
        print(f"no published form of {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    wanted = cells(given.machines, given.locks, given.threads, given.lock_counts)
    print(FORM.format(*HEAD))
    found: list[dict[str, Any]] = []
    try:
        with laboratory(given.jobs) as labs:
            for result in measure(labs, wanted, given.seeds, given.duration_us * 1000):
                found.append(result.to_record())
                print(line(result), flush=True)
            papers = measure_papers(labs, given)
    except HaspError as error:
        print(f"{error.message}", file=sys.stderr)
        return 1
    if given.json:
        write(given, found, papers)
    return 0


def measure_papers(
    labs: dict[Form, Lab], given: argparse.Namespace
) -> list[dict[str, Any]]:
    """Print and return the ratios to mcs that papers state, and those of both forms."""
    found = []
    for claim in PAPER_RATIOS:
        if claim.lock in given.locks and claim.machine in (*given.machines, "i-48"):
            ratios = {
                form.value: round(ratio_to_mcs(labs[form], claim, given.seeds), 2)
                for form in Form
            }
            found.append({**asdict(claim), **ratios})
            print(
                f"{claim.lock} by mcs, a map, {claim.threads} threads on "
                f"{claim.machine}: {ratios['shipped']}, published form "
                f"{ratios['published']}, paper {claim.ratio}"
            )
    return found


def write(
    given: argparse.Namespace,
    found: list[dict[str, Any]],
    papers: list[dict[str, Any]],
) -> None:
    """Write the data of the page."""
    text = (
        f'{{"duration_us": {given.duration_us}, "seeds": {json.dumps(given.seeds)},\n'
        f'"papers": [\n{rows(papers)}\n],\n"cells": [\n{rows(found)}\n]}}\n'
    )
    part = given.json.with_suffix(".part")
    part.write_text(text)
    part.replace(given.json)


def rows(records: list[dict[str, Any]]) -> str:
    """Return one line of JSON for each record."""
    return ",\n".join(json.dumps(record) for record in records)


if __name__ == "__main__":
    sys.exit(main())
