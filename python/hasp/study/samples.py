# SPDX-License-Identifier: MIT
"""The store of a study: a folder of samples as Parquet files, with their provenance.

    STORE/hasp-store.json       {"schema": "hasp.store/1"}
    STORE/samples/ID.parquet    one batch: one row for each run and metric
    STORE/samples/ID.json       its provenance
    STORE/journals/             runs, written as they end (journal.py)

Columns of the samples: `machine`, `program`, `lock` (strings); `size` (the number of
NUMA nodes or threads, as the batch's `size_unit` says); `run` (from 0 in each batch);
`metric` (string); `value` (float64, in the metric's unit). Values that were not
measured have no row. Any tool that reads Parquet can read them together: `SELECT * FROM
'STORE/samples/*.parquet'`.

A batch is written under a temporary name and then renamed, provenance last, so that an
interrupted import is never mistaken for data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hasp.base.errors import HaspError

if TYPE_CHECKING:
    import polars

SCHEMA = "hasp.store/1"
MARK = "hasp-store.json"
# Facts that every batch has, and their types.
FACTS: dict[str, type] = {
    **dict.fromkeys(("machine", "source", "added", "size_unit"), str),
    "metrics": list,
    "runs": int,
}
COLUMNS = ("machine", "program", "lock", "size", "run", "metric", "value")


@dataclass(frozen=True)
class Store:
    """An open store."""

    folder: Path

    @property
    def samples(self) -> Path:
        """The folder of the batches."""
        return self.folder / "samples"

    def batches(self) -> list[dict[str, Any]]:
        """Return the provenance of every batch, in the order of their ids."""
        found = []
        for path in sorted(self.samples.glob("*.json")):
            try:
                batch = {"id": path.stem, **json.loads(path.read_text("utf-8"))}
                if not all(isinstance(batch.get(key), t) for key, t in FACTS.items()):
                    raise ValueError
                found.append(batch)
            except (OSError, ValueError, TypeError):
                raise HaspError(
                    f"{path} is damaged",
                    f"delete it and {path.stem}.parquet, and add that batch again",
                ) from None
        return found

    def lower_is_better(self) -> set[str]:
        """The metrics whose lower values are better; the statistics invert them."""
        return self._named("lower_is_better")

    def descriptive(self) -> set[str]:
        """The metrics for which neither direction is better; they are not ranked."""
        return self._named("descriptive")

    def _named(self, key: str) -> set[str]:
        return {metric for batch in self.batches() for metric in batch.get(key, ())}

    def add(
        self,
        rows: polars.DataFrame,
        provenance: dict[str, Any],
        *,
        replace: bool = False,
    ) -> str:
        """Write a batch; returns its id. `replace` allows overwriting it."""
        assert tuple(rows.columns) == COLUMNS
        name = file_name(f"{provenance['machine']}-{provenance['sha256'][:12]}")
        if not replace and (self.samples / f"{name}.json").exists():
            raise HaspError(
                f"{provenance['source']} is already in {self.folder} as {name}",
                f"to add it again, delete {self.samples / name}.* first",
            )
        unfinished = self.samples / f"{name}.unfinished"
        try:
            self.samples.mkdir(parents=True, exist_ok=True)
            rows.write_parquet(unfinished)
            unfinished.rename(self.samples / f"{name}.parquet")
            unfinished.write_text(json.dumps(provenance, indent=1) + "\n", "utf-8")
            unfinished.rename(self.samples / f"{name}.json")
        except OSError as problem:
            unfinished.unlink(missing_ok=True)
            raise HaspError(
                f"cannot write to {self.samples}: {problem.strerror or problem}",
                "free some space, or name another --store",
            ) from None
        return name

    def read(self) -> polars.DataFrame:
        """Return all samples of all complete batches."""
        import polars

        parts = [self.samples / f"{batch['id']}.parquet" for batch in self.batches()]
        if not parts:
            raise HaspError(
                f"the store {self.folder} is empty",
                "put measurements into it with `hasp study run` or `hasp study add`",
            )
        try:
            return polars.concat(
                [polars.read_parquet(path, columns=list(COLUMNS)) for path in parts]
            )
        except (OSError, polars.exceptions.PolarsError) as problem:
            raise HaspError(
                f"a batch in {self.samples} cannot be read: {problem}",
                "delete its .parquet and .json, and add it again",
            ) from None


def file_name(text: str) -> str:
    """`text` with unsuitable characters for a file name replaced by `_`."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in text)


def create_or_open(folder: Path) -> Store:
    """Return the store in a folder, creating it if necessary."""
    if (folder / MARK).exists():
        return open_store(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise HaspError(
                f"{folder} is not a store, and not empty", "name a new or empty folder"
            )
        (folder / MARK).write_text(json.dumps({"schema": SCHEMA}) + "\n", "utf-8")
    except OSError as problem:
        raise HaspError(
            f"cannot create a store in {folder}: {problem.strerror}",
            "name a folder that you can write to",
        ) from None
    return Store(folder)


def open_store(folder: Path) -> Store:
    """Return the store in a folder; raise HaspError if there is none."""
    try:
        schema = json.loads((folder / MARK).read_text("utf-8")).get("schema")
    except (OSError, ValueError, AttributeError):
        raise HaspError(
            f"{folder} is not a store of measurements",
            "create one with `hasp study run CAMPAIGN.toml --store DIR`, or from "
            "tables with `hasp study add`",
        ) from None
    if schema != SCHEMA:
        raise HaspError(
            f"{folder} is a store of schema {schema!r}, but this Hasp reads {SCHEMA!r}",
            "use the version of Hasp that created it, or a newer one",
        )
    return Store(folder)
