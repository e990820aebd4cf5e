# SPDX-License-Identifier: MIT
"""Every table of `hasp study table` by its name."""

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
# These look at single runs, which take longer to bring together than their means.
OF_RUNS = ("means", "verdicts")
