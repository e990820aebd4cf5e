# SPDX-License-Identifier: MIT
"""The tables of `hasp study table` by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.statistics.grid import Grid
from hasp.study import run_tables, tables
from hasp.study.grids import grid_of, runs_of
from hasp.study.report.table import show
from hasp.study.samples import open_store
from hasp.study.tables import Question, Rows, Table

TABLES: dict[str, Callable[[Question], Table]] = {
    **tables.TABLES,
    "optimal-sizes": run_tables.table_optimal_sizes,
    "collapse": run_tables.table_collapse,
    "means": run_tables.table_means,
    "verdicts": run_tables.table_verdicts,
    "interposed": run_tables.table_interposed,
}
BATCH_COLUMNS = ["machine", "runs", "size_unit", "metrics", "source", "added"]
# These tables need single runs, which take longer to collect than means.
OF_RUNS = ("means", "verdicts")


@dataclass(frozen=True)
class Options:
    """The options of `hasp study table`."""

    table: str  # one of TABLES
    store: Path
    machines: Sequence[str]
    metric: str
    other: str | None = None  # the metric to correlate with
    at: str | None = None  # one of POINTS
    sizes: tuple[int, ...] | None = None
    locks: tuple[str, str] | None = None
    csv: bool = False
    json: str | None = None


def show_table(options: Options) -> None:
    """Print a table of a store, or write it as CSV or JSON."""
    store = open_store(options.store)
    samples, less = store.read(), store.lower_is_better()

    def grids(metric: str) -> dict[str, Grid]:
        inverted = metric in less
        return {
            name: grid_of(samples, name, metric, inverted=inverted)
            for name in options.machines
        }

    metric = options.metric
    runs = None
    if options.table in OF_RUNS:
        runs = {name: runs_of(samples, name, metric) for name in options.machines}
    question = Question(
        grids(metric),
        options.at,
        options.sizes,
        grids(options.other) if options.other else None,
        runs,
        metric in less,
        options.locks,
    )
    table = TABLES[options.table](question)
    show(table, options.json, as_csv=options.csv)


def show_batches(store: Path, json: str | None) -> None:
    """Print the batches of a store, or write them as JSON lines."""
    rows: Rows = [
        [
            ", ".join(batch[name]) if name == "metrics" else batch[name]
            for name in BATCH_COLUMNS
        ]
        for batch in open_store(store).batches()
    ]
    show(Table(BATCH_COLUMNS, rows), json)
