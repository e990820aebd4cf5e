# SPDX-License-Identifier: MIT
"""Import of existing measurements from CSV files, such as the lock study's data sets.

Each line is one run. The columns for program, lock and size have several accepted names
(LiTL's data sets call them bench, strategy and node); every other column is a metric.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Collection
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hasp.base.errors import HaspError
from hasp.study.samples import COLUMNS, Store

if TYPE_CHECKING:
    import polars

NAMES = {
    "program": ("program", "bench", "application"),
    "lock": ("lock", "strategy"),
    "size": ("nodes", "node", "threads"),
}
SIZE_UNITS = {"node": "nodes"}
# Spelling in one of the published files.
METRIC_SPELLINGS = {"throughout": "throughput"}
LESS_IS_BETTER = {"latency"}


def import_csv(
    store: Store, machine: str, path: Path, less_is_better: Collection[str] = ()
) -> dict[str, Any]:
    """Add the runs of a CSV file to the store; returns the batch's provenance.

    `less_is_better` names further metrics whose lower values are better. A malformed
    file is an error, and none of its rows are added.
    """
    content, table = _read(path)
    keys = _keys(path, table.columns)
    metrics = [name for name in table.columns if name not in keys.values()]
    if not metrics:
        raise HaspError(
            f"{path} has no column with measurements",
            f"add one to {', '.join(keys.values())}, such as throughput",
        )
    for name in less_is_better:
        if name not in metrics:
            raise HaspError(
                f"{path} has no metric {name!r} for --less-is-better",
                f"its metrics are {', '.join(metrics)}",
            )
    less = {*LESS_IS_BETTER, *less_is_better}
    if table.is_empty():
        raise HaspError(f"{path} has no runs", "write one line for each run")
    provenance = {
        "machine": machine,
        "source": path.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "added": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "size_unit": SIZE_UNITS.get(keys["size"], keys["size"]),
        "metrics": [METRIC_SPELLINGS.get(name, name) for name in metrics],
        "lower_is_better": [name for name in metrics if name in less],
        "runs": len(table),
    }
    rows = _rows(_numbers(path, table, keys, metrics), machine, keys, metrics)
    if rows.is_empty():
        raise HaspError(
            f"{path} has not a single value in {', '.join(metrics)}",
            "nothing was added; check whether another column holds the measurements",
        )
    store.add(rows, provenance)
    return provenance


def _read(path: Path) -> tuple[bytes, polars.DataFrame]:
    """Return the file's bytes, and its table with every cell as text."""
    import polars

    try:
        content = path.read_bytes()
    except OSError as problem:
        raise HaspError(
            f"{path}: {problem.strerror}", "name a CSV file of measurements"
        ) from None
    try:
        table = polars.read_csv(content, infer_schema=False)
    except polars.exceptions.PolarsError as problem:
        raise HaspError(
            f"{path} is not a CSV file: {str(problem).splitlines()[0]}",
            "the first line names the columns; every line has as many",
        ) from None
    _refuse_twins(path, content)
    return content, table


def _rows(
    table: polars.DataFrame, machine: str, keys: dict[str, str], metrics: list[str]
) -> polars.DataFrame:
    """Return a row for each run and metric, as the store keeps them."""
    import polars

    return (
        table.rename({column: name for name, column in keys.items()})
        .with_columns(polars.lit(machine).alias("machine"))
        .with_row_index("run")
        .with_columns(polars.col("run").cast(polars.Int64))
        .unpivot(
            on=metrics,
            index=["machine", "run", "program", "lock", "size"],
            variable_name="metric",
            value_name="value",
        )
        .drop_nulls("value")
        .with_columns(polars.col("metric").replace(METRIC_SPELLINGS))
        .select(COLUMNS)
    )


def _refuse_twins(path: Path, content: bytes) -> None:
    """Refuse two columns of one name, which polars would silently rename."""
    first = content.decode("utf-8-sig", "replace").splitlines()[0]
    names = next(csv.reader([first]))
    for name in names:
        if names.count(name) > 1:
            raise HaspError(
                f"{path}, line 1: two columns are called {name!r}",
                "rename or delete one; nothing was added",
            )


def _keys(path: Path, columns: list[str]) -> dict[str, str]:
    """Return the file's column name for each kind of key."""
    found = {}
    for kind, names in NAMES.items():
        there = [name for name in names if name in columns]
        if len(there) != 1:
            raise HaspError(
                f"{path}, line 1: {'two columns' if there else 'no column'} for the "
                f"{kind}: {', '.join(columns)}",
                f"name it {' or '.join(names)}",
            )
        found[kind] = there[0]
    return found


def _numbers(
    path: Path, table: polars.DataFrame, keys: dict[str, str], metrics: list[str]
) -> polars.DataFrame:
    """The table with its sizes and metrics as numbers; an empty metric becomes null."""
    import polars

    for name in (keys["program"], keys["lock"]):
        missing = table[name].fill_null("") == ""
        _refuse(path, name, table[name], missing, "it is empty")
    size = table[keys["size"]].cast(polars.Int64, strict=False)
    wrong = size.is_null() | (size.fill_null(0) < 1)
    _refuse(path, keys["size"], table[keys["size"]], wrong, "not a number from 1")
    changed = table.with_columns(size)
    for name in metrics:
        text = table[name].fill_null("").str.strip_chars()
        value = text.cast(polars.Float64, strict=False)
        wrong = ((text != "") & value.is_null()) | ~value.is_finite().fill_null(True)
        _refuse(path, name, table[name], wrong, "not a number")
        changed = changed.with_columns(value.alias(name))
    return changed


def _refuse(
    path: Path, column: str, text: polars.Series, wrong: polars.Series, why: str
) -> None:
    if wrong.any():
        place = wrong.arg_true()[0]
        raise HaspError(
            f"{path}, line {place + 2}: {column} is {text[place] or ''!r}: {why}",
            "correct or delete that line; nothing was added",
        )
