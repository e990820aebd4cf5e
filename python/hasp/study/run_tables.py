# SPDX-License-Identifier: MIT
"""Tables that the lock study lacks, computed from single runs instead of means.

They show intervals, effect sizes, tests corrected for their number, verdicts including
"cannot tell", collapse, and the cost of interposition. hasp.statistics names the source
of each formula.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy

from hasp.base.errors import HaspError
from hasp.statistics.collapse import collapsed
from hasp.statistics.contest import contest, holm
from hasp.statistics.grid import Grid
from hasp.statistics.interposition import Cost, cost_of_interposing
from hasp.statistics.interval import ratio_of_means
from hasp.statistics.narrow import half_width
from hasp.study.grids import Runs
from hasp.study.tables import Cell, Question, Rows, Table, whole

DIGITS = 4  # significant digits of a mean; runs are never more precise
NATIVE, INTERPOSED = "glibc", "futex"  # the same kind of lock without Hasp and with it
ALL = "all"
Pairs = list[tuple[float, float]]


def _figure(value: float | None) -> float | None:
    """A number rounded to a sensible number of digits; None if it is not known."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")


def _runs(question: Question) -> tuple[Grid, Runs]:
    """Return the grid of the only machine, and its runs."""
    grid = question.only_machine()
    assert question.runs is not None
    return grid, next(iter(question.runs.values()))


def table_means(question: Question) -> Table:
    """Return every configuration with its mean and Student's interval."""
    _, runs = _runs(question)
    rows: Rows = []
    for (program, lock, size), values in sorted(runs.items()):
        mean = float(numpy.mean(values))
        reach = half_width(values) * abs(mean)
        ends = [_figure(mean - reach), _figure(mean + reach)]
        rows.append([program, lock, size, len(values), _figure(mean), *ends])
    columns = "application,lock,size,runs,mean,low,high"
    return Table(columns.split(","), rows)


def table_verdicts(question: Question) -> Table:
    """Compare each lock with the program's best: ratio, effect size, p and verdict."""
    grid, runs = _runs(question)
    rows: Rows = []
    for program in grid.programs:
        ours = _at(runs, program, question)
        found = contest(ours)
        best = max(found, key=lambda lock: found[lock].ratio, default="")
        for lock, one in sorted(found.items(), key=lambda item: -item[1].ratio):
            ratio = ratio_of_means(ours[lock], ours[best])
            known = lock != best
            rows.append(
                [
                    *(program, lock, len(ours[lock]), _figure(one.ratio)),
                    _figure(ratio.low) if known else None,
                    _figure(ratio.high) if known else None,
                    _figure(one.effect) if known else None,
                    _figure(one.p) if known else None,
                    one.verdict,
                ]
            )
    columns = "application,lock,runs,ratio_to_best,low,high,hedges_g,p_holm,verdict"
    return Table(columns.split(","), rows)


def _at(runs: Runs, program: str, question: Question) -> dict[str, list[float]]:
    """Return the runs of each lock at a point of view, inverted if lower is better."""
    sizes = sorted({size for name, _, size in runs if name == program})
    locks = sorted({lock for name, lock, _ in runs if name == program})
    found = {}
    for lock in locks:
        there = {
            size: values
            for size in sizes
            if (values := _upright(runs.get((program, lock, size), []), question))
        }
        if not there:
            continue
        if question.at == "opt":
            size = max(there, key=lambda size: float(numpy.mean(there[size])))
        else:
            size = sizes[0] if question.at == "one" else sizes[-1]
        if size in there:
            found[lock] = there[size]
    return found


def _upright(values: list[float], question: Question) -> list[float]:
    if not question.inverted:
        return values
    return [1 / value for value in values if value > 0]


def table_collapse(question: Question) -> Table:
    """Return the locks that lose over half of their own peak at the largest size."""
    grid = question.only_machine()
    flags, best = collapsed(grid), grid.best_sizes()
    at_max, peak = grid.at("max"), grid.at("opt")
    rows: Rows = [
        [
            *(grid.programs[program], grid.locks[lock], int(best[program, lock])),
            whole(100 * at_max[program, lock] / peak[program, lock]),
        ]
        for program, lock in numpy.argwhere(flags)
    ]
    rows.sort(key=lambda row: (row[0], row[-1]))
    return Table(["application", "lock", "best_size", "left_at_largest_pct"], rows)


def table_optimal_sizes(question: Question) -> Table:
    """Return the size at which each lock is best for each program."""
    grid = question.only_machine()
    best = grid.best_sizes()
    rows: Rows = [
        [program, lock, int(best[index, number])]
        for index, program in enumerate(grid.programs)
        for number, lock in enumerate(grid.locks)
        if best[index, number]
    ]
    return Table(["application", "lock", "best_size"], rows)


def table_interposed(question: Question) -> Table:
    """Table 6: the cost of interposition, by a paired t-test.

    With two machines, they have the same locks native and interposed: the pairs of each
    application are its locks and sizes, as in the study. With one machine, two of its
    locks are compared: the pairs at each size are the programs.
    """
    machines = list(question.grids.values())
    if len(machines) == 2:
        first = "application"
        groups = _pairs_of_machines(machines[0], machines[1])
    else:
        first = "size"
        locks = question.locks or (NATIVE, INTERPOSED)
        groups = _pairs_of_locks(question.only_machine(), *locks)
    rows = _costs(groups)
    columns = "pairs,change_pct,low_pct,high_pct,p_value,p_holm"
    return Table([first, *columns.split(",")], rows)


def _pairs_of_machines(native: Grid, interposed: Grid) -> Iterator[tuple[Cell, Pairs]]:
    for program in sorted({*native.programs} & {*interposed.programs}):
        one = native.values[native.programs.index(program)]
        two = interposed.values[interposed.programs.index(program)]
        yield (
            program,
            [
                (
                    float(one[native.locks.index(lock), native.sizes.index(size)]),
                    float(two[interposed.locks.index(lock), index]),
                )
                for lock in sorted({*native.locks} & {*interposed.locks})
                for index, size in enumerate(interposed.sizes)
                if size in native.sizes
            ],
        )


def _pairs_of_locks(
    grid: Grid, native: str, interposed: str
) -> Iterator[tuple[Cell, Pairs]]:
    for lock in (native, interposed):
        if lock not in grid.locks:
            raise HaspError(
                f"the store has no runs under {lock!r} to compare",
                f"name two of {', '.join(grid.locks)} with --locks, or two machines",
            )
    one, two = (
        grid.values[:, grid.locks.index(lock), :] for lock in (native, interposed)
    )
    for index, size in enumerate(grid.sizes):
        pairs = zip(one[:, index].tolist(), two[:, index].tolist(), strict=True)
        yield size, list(pairs)


def _costs(groups: Iterable[tuple[Cell, Pairs]]) -> Rows:
    """One row for each group and one for all, with p corrected over the groups."""
    named: list[tuple[Cell, Pairs]] = []
    for name, pairs in groups:
        named.append((name, [pair for pair in pairs if min(pair) > 0]))
    if len(named) > 1:
        named.append((ALL, [pair for _, pairs in named for pair in pairs]))
    costs = [_cost(pairs) for _, pairs in named]
    corrected = iter(holm([cost.p for cost in costs if cost]))
    rows: Rows = []
    for (name, pairs), cost in zip(named, costs, strict=True):
        figures: list[Cell] = [None] * 5
        if cost:
            changes = [100 * (end - 1) for end in (cost.ratio, cost.low, cost.high)]
            figures = [
                *map(_figure, changes),
                _figure(cost.p),
                _figure(next(corrected)),
            ]
        rows.append([name, len(pairs), *figures])
    return rows


def _cost(pairs: Pairs) -> Cost | None:
    """Return the cost over the pairs; None with fewer than two."""
    if len(pairs) < 2:
        return None
    native, interposed = zip(*pairs, strict=True)
    return cost_of_interposing(native, interposed)
