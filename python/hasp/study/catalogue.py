# SPDX-License-Identifier: MIT
"""The tables of `hasp study table` by name."""

from __future__ import annotations

from collections.abc import Callable

from hasp.study import run_tables, tables
from hasp.study.tables import Question, Table

TABLES: dict[str, Callable[[Question], Table]] = {
    **tables.TABLES,
    "optimal-sizes": run_tables.table_optimal_sizes,
    "collapse": run_tables.table_collapse,
    "means": run_tables.table_means,
    "verdicts": run_tables.table_verdicts,
    "interposed": run_tables.table_interposed,
}
# These tables need single runs, which take longer to collect than means.
OF_RUNS = ("means", "verdicts")
