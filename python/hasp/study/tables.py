# SPDX-License-Identifier: MIT
"""The tables of the lock study for any store, with the study's own columns.

The statistics are in hasp.statistics; this module selects programs and points of view,
rounds as the study does ("Lock - Unlock: Is That All?", ACM TOCS 2019: to the nearest
integer, ties to even), and leaves cells empty that were not measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy

from hasp.base.errors import HaspError
from hasp.statistics import sensitivity, standing, superiority
from hasp.statistics.correlation import correlations
from hasp.statistics.grid import POINTS, Grid
from hasp.study.grids import Runs

Cell = str | int | float | None
Rows = list[list[Cell]]
# The study compares the sizes 1, 2, 4 and 8 on its larger machines, and all sizes on a
# machine with up to four.
ALL_SIZES_UP_TO = 4


@dataclass(frozen=True)
class Table:
    """A table: its columns and rows."""

    columns: list[str]
    rows: Rows


@dataclass(frozen=True)
class Question:
    """The input of a table: the grids of the metric by machine, and the options."""

    grids: dict[str, Grid]
    at: str | None = None  # one of POINTS
    sizes: tuple[int, ...] | None = None
    other: dict[str, Grid] | None = None  # grids of the metric to correlate with
    runs: dict[str, Runs] | None = (
        None  # single runs by machine, for tables that need more than means
    )
    inverted: bool = False  # lower values are better, so the grids contain 1 / mean
    locks: tuple[str, str] | None = None  # the two locks to compare

    def points(self, default: Sequence[str]) -> Sequence[str]:
        """Return the points of view in the table."""
        return [self.at] if self.at else default

    def only_machine(self) -> Grid:
        """Return the grid of the only machine; several are an error."""
        if len(self.grids) != 1:
            raise HaspError(
                f"this table is for one machine, not for {', '.join(self.grids)}",
                "name one with --machine",
            )
        return next(iter(self.grids.values()))


def whole(value: float) -> int | None:
    """Rounded to the nearest integer, as the study prints it; None if not measured."""
    return None if math.isnan(value) else round(float(value))


def _sensitive(grid: Grid) -> Grid:
    return grid.only(sensitivity.sensitive_programs(grid))


def table_sensitivity(question: Question) -> Table:
    """Tables 7, 19 to 24, 73, 74: gain of best over worst, and deviation."""
    grid = question.only_machine()
    points = question.points(POINTS)
    columns = ["application"]
    figures = []
    for point in points:
        columns += [f"gain_{point}_pct", f"rdev_{point}_pct"]
        means = grid.at(point)
        figures += [
            sensitivity.gain_of_best_over_worst(means),
            sensitivity.relative_deviation(means),
        ]
    rows: Rows = [
        [program, *(whole(100 * figure[index]) for figure in figures)]
        for index, program in enumerate(grid.programs)
    ]
    return Table(columns, rows)


def table_sensitive(question: Question) -> Table:
    """Tables 8 and 75: the number of lock-sensitive programs."""
    rows: Rows = []
    for machine, grid in question.grids.items():
        count = len(sensitivity.sensitive_programs(grid))
        share = whole(100 * count / len(grid.programs))
        rows.append([machine, len(grid.programs), count, share])
    columns = "machine,tested_applications,lock_sensitive_applications,ratio_pct"
    return Table(columns.split(","), rows)


COVERAGE_COLUMNS = {
    "one": "one_node_pct",
    "max": "max_nodes_pct",
    "opt": "opt_nodes_pct",
}


def table_coverage(question: Question) -> Table:
    """Tables 31 to 37, 78, 79: the share of programs with each lock among the best."""
    grid = _sensitive(question.only_machine())
    points = question.points(POINTS)
    figures = [standing.coverage(grid.at(point)) for point in points]
    rows: Rows = [
        [lock, *(whole(figure[index]) for figure in figures)]
        for index, lock in enumerate(grid.locks)
    ]
    return Table(["lock", *(COVERAGE_COLUMNS[point] for point in points)], rows)


def coverage_summary(coverages: Iterable[float]) -> list[int | None]:
    """Minimum, maximum, mean and sample standard deviation of the coverages."""
    values = numpy.array([value for value in coverages if not math.isnan(value)])
    figures = [values.min(), values.max(), values.mean(), values.std(ddof=1)]
    return [whole(figure) for figure in figures]


def table_coverage_summary(question: Question) -> Table:
    """Table 11, computed from rounded coverages like those of tables 31 to 34."""
    columns = (
        "machine,configuration,coverage_min_pct,coverage_max_pct,"
        "coverage_average_pct,relative_stdev_printed_pct"
    )
    rows: Rows = []
    for point in question.points(POINTS):
        for machine, grid in question.grids.items():
            shares = standing.coverage(_sensitive(grid).at(point))
            rounded = [float(numpy.round(share)) for share in shares]
            rows.append([machine, point, *coverage_summary(rounded)])
    return Table(columns.split(","), rows)


def table_harmful(question: Question) -> Table:
    """Table 12: the share of programs that each lock slows by more than 15 %."""
    columns = ["lock"]
    found: dict[str, list[int | None]] = {}
    grids = question.grids.items()
    names = sorted({lock for _, grid in grids for lock in grid.locks})
    for machine, grid in grids:
        chosen = _sensitive(grid)
        for point in question.points(("max", "opt")):
            columns.append(f"{machine}_{point}_pct")
            shares = standing.harmful(chosen.at(point))
            by_lock = dict(zip(chosen.locks, shares, strict=True))
            for lock in names:
                share = whole(by_lock.get(lock, math.nan))
                found.setdefault(lock, []).append(share)
    return Table(columns, [[lock, *found[lock]] for lock in names])


def table_pairwise(question: Question) -> Table:
    """Tables 38 to 51, 80 to 83: share of programs on which a lock beats another."""
    grid = _sensitive(question.only_machine())
    shares = superiority.superiority(grid.at(question.at or "opt"))
    rows: Rows = []
    for one, lock in enumerate(grid.locks):
        for two, other in enumerate(grid.locks):
            if one != two:
                rows.append([lock, other, whole(shares[one, two])])
        known = shares[one][~numpy.isnan(shares[one])]
        rows.append([lock, "average", whole(known.mean()) if len(known) else None])
    return Table(["lock_a", "lock_b", "a_better_than_b_pct"], rows)


def sizes_to_compare(grid: Grid) -> tuple[int, ...]:
    """Return all sizes, or the powers of two if there are more than four sizes."""
    if len(grid.sizes) <= ALL_SIZES_UP_TO:
        return grid.sizes
    return tuple(size for size in grid.sizes if size & (size - 1) == 0)


def table_changes(question: Question) -> Table:
    """Tables 13, 66 to 71: the pairs of locks whose order changes between sizes.

    With several machines, table 72: the pairs whose order changes between machines.
    """
    if len(question.grids) > 1:
        return _changes_between_machines(question)
    grid = _sensitive(question.only_machine())
    sizes = question.sizes or sizes_to_compare(grid)
    unknown = [size for size in sizes if size not in grid.sizes]
    if unknown or len(sizes) < 2:
        raise HaspError(
            f"cannot compare the sizes {', '.join(map(str, sizes))}",
            f"name at least two of {', '.join(map(str, grid.sizes))}",
        )
    means = [grid.at_size(size) for size in sizes]
    columns = ["application"]
    figures = []
    for index in range(len(sizes) - 1):
        columns.append(f"changes_{sizes[index]}_{sizes[index + 1]}_pct")
        figures.append(superiority.share_of_changes(means[index], means[index + 1]))
    if len(sizes) > 2:
        columns.append(f"changes_{'_'.join(map(str, sizes))}_pct")
        figures.append(superiority.share_of_any_change(means))
    rows: Rows = [
        [program, *(whole(figure[index]) for figure in figures)]
        for index, program in enumerate(grid.programs)
    ]
    return Table(columns, rows)


def _changes_between_machines(question: Question) -> Table:
    columns = "machine_a,machine_b,changes_max_nodes_pct,changes_opt_nodes_pct"
    names = list(question.grids)
    rows: Rows = []
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            one, two = question.grids[first], question.grids[second]
            programs = sorted(
                {*sensitivity.sensitive_programs(one)}
                & {*sensitivity.sensitive_programs(two)}
            )
            locks = [lock for lock in one.locks if lock in two.locks]
            shares: list[int | None] = []
            for point in ("max", "opt"):
                flags, known = superiority.changed(
                    *(
                        grid.only(programs).at(point)[
                            :, [grid.locks.index(lock) for lock in locks]
                        ]
                        for grid in (one, two)
                    )
                )
                total = known.sum()
                shares.append(whole(100 * flags.sum() / total) if total else None)
            rows.append([first, second, *shares])
    return Table(columns.split(","), rows)


def table_breakdown(question: Question) -> Table:
    """Table 10: the best size of each pair of a sensitive program and a lock."""
    rows: Rows = []
    for machine, grid in question.grids.items():
        best = _sensitive(grid).best_sizes()
        total = int((best > 0).sum())
        for size in grid.sizes:
            share = 100 * int((best == size).sum()) / max(total, 1)
            rows.append([machine, size, whole(share)])
    return Table(["machine", "nodes", "share_of_pairs_pct"], rows)


def table_best_vs_lock(question: Question) -> Table:
    """Tables 52 to 65, 84 to 87: each program's gain from changing to its best lock.

    `gain_printed` is in the study's format: truncated, with thousands as `k`.
    """
    grid = _sensitive(question.only_machine())
    gains = 100 * standing.gain_of_best(grid.at(question.at or "max"))
    rows: Rows = []
    for index, program in enumerate(grid.programs):
        for number, lock in enumerate(grid.locks):
            gain = gains[index, number]
            if not math.isnan(gain):
                short = f"{round(gain / 1000)}k" if gain >= 1000 else str(int(gain))
                rows.append([program, lock, short, int(gain)])
    return Table(["application", "lock", "gain_printed", "gain_pct"], rows)


def table_correlation(question: Question) -> Table:
    """Table 16: Pearson's correlation of two metrics over all locks and sizes."""
    grid = question.only_machine()
    if question.other is None:
        raise HaspError(
            "a correlation needs a second metric", "name it with --with METRIC"
        )
    other = next(iter(question.other.values()))
    rows: Rows = [
        [program, None if math.isnan(value) else round(value, 2)]
        for program, value in correlations(grid, other).items()
    ]
    return Table(["application", "pearson_r"], rows)


TABLES: dict[str, Callable[[Question], Table]] = {
    "sensitivity": table_sensitivity,
    "sensitive": table_sensitive,
    "coverage": table_coverage,
    "coverage-summary": table_coverage_summary,
    "harmful": table_harmful,
    "pairwise": table_pairwise,
    "changes": table_changes,
    "breakdown": table_breakdown,
    "best-vs-lock": table_best_vs_lock,
    "correlation": table_correlation,
}
