#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print how good each lock of a study is on the whole, as a Markdown table.

    tools/study_means.py docs/studies/two-cpus/store

The geometric mean over all programs and sizes of the median throughput, relative to
glibc's lock, with a 95 % interval (percentile bootstrap of the runs), and the number of
cases in which the lock is within 5 % of the best one. Cases that lack a lock are left
out for all locks.

The best of many noisy medians is ahead of locks that are as good, by chance. So the
number is also given for the lock that is best in one half of the runs, of even or of
odd number, and is compared in the other half: the mean of both ratios counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from hasp.locks.native import REFERENCE  # noqa: E402
from hasp.study import campaign, grids, samples  # noqa: E402

RESAMPLES = 1000
NEAR = 0.95  # of the best lock's throughput

Case = Mapping[str, Sequence[float]]  # the throughput of each run, by lock


def cases_of(store: Path, machine: str) -> list[Case]:
    """Return the runs of each program and size that ran under every lock."""
    runs = grids.runs_of(samples.open_store(store).read(), machine, campaign.THROUGHPUT)
    found: dict[tuple[str, int | None], dict[str, Sequence[float]]] = {}
    for (program, lock, size), values in runs.items():
        found.setdefault((program, size), {})[lock] = values
    locks = {lock for case in found.values() for lock in case}
    return [case for case in found.values() if set(case) == locks]


def mean_of(lock: str, cases: Sequence[Case]) -> float:
    """Return the geometric mean of a lock's medians relative to glibc's."""
    return geometric_mean(median(one[lock]) / median(one[REFERENCE]) for one in cases)


def resampled(cases: Sequence[Case], random: np.random.Generator) -> list[Case]:
    """Return the cases with runs drawn from the measured ones."""
    return [
        {lock: random.choice(runs, len(runs)).tolist() for lock, runs in one.items()}
        for one in cases
    ]


def near_best(lock: str, case: Case) -> bool:
    """Return whether the lock is within 5 % of the best one."""
    return median(case[lock]) >= NEAR * max(map(median, case.values()))


def near_chosen(lock: str, case: Case) -> bool:
    """Return the same for a best lock that other runs than the compared ones chose."""
    even, odd = ({one: runs[half::2] for one, runs in case.items()} for half in (0, 1))
    ratios = []
    for chosen_by, compared in ((even, odd), (odd, even)):
        best = max(chosen_by, key=lambda one: median(chosen_by[one]))
        ratios.append(median(compared[lock]) / median(compared[best]))
    return geometric_mean(ratios) >= NEAR


def rows(cases: Sequence[Case]) -> list[str]:
    """Return the table, the best lock first."""
    random = np.random.default_rng(1)
    drawn = [resampled(cases, random) for _ in range(RESAMPLES)]
    lines = []
    for lock in sorted(cases[0], key=lambda one: -mean_of(one, cases)):
        means = [mean_of(lock, one) for one in drawn]
        low, high = np.percentile(means, [2.5, 97.5])
        near, chosen = (
            sum(test(lock, one) for one in cases) for test in (near_best, near_chosen)
        )
        interval = "" if lock == REFERENCE else f"{low:.2f} to {high:.2f}"
        lines.append(
            f"| `{lock}` | {mean_of(lock, cases):.2f} | {interval} "
            f"| {near} of {len(cases)} | {chosen} |"
        )
    return lines


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store", type=Path, help="a store of `hasp study run`")
    parser.add_argument("--machine", default="two-cpus", help="its name in the store")
    arguments = parser.parse_args()
    cases = cases_of(arguments.store, arguments.machine)
    if not cases:
        raise SystemExit(f"{arguments.store} has no case with every lock")
    print(
        "| lock | geometric mean | interval | within 5 % of the best "
        "| of the best, chosen by other runs |"
    )
    print("|---|--:|---|--:|--:|")
    print("\n".join(rows(cases)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
