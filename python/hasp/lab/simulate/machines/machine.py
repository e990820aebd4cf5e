# SPDX-License-Identifier: MIT
"""Reads the TOML description of a machine to simulate."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.document import Document, Keys
from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.lab.simulate.machines import shorthand, speed, topology, wakeups
from hasp.lab.simulate.machines.problems import Problems
from hasp.lab.simulate.machines.schema import (
    CONSTANTS,
    FIGURES,
    MOST_CYCLES,
    OPERATIONS,
    PROTOCOLS,
    SCHEMA,
    STANDS_IN,
    STATES,
    TOP_KEYS,
    TRANSACTIONS,
    Figure,
    tables,
)
from hasp.lab.simulate.machines.speed import Speed
from hasp.lab.simulate.machines.topology import Topology
from hasp.lab.simulate.machines.wakeups import Wakeup

FOLDER = Path(__file__).resolve().parent
SUFFIX = ".toml"
CONSTANTS_FILE = FOLDER / f"model{SUFFIX}"

Row = tuple[int, ...]


@dataclass(frozen=True)
class Machine:
    """A machine to simulate."""

    name: str
    title: str
    path: Path
    topology: Topology
    protocol: str
    latencies: dict[tuple[str, str], Row]  # operation, state: by the file's distances
    figures: dict[tuple[str, str], int]  # table, key
    transactional: bool
    sources: dict[str, str]
    estimates: dict[str, str]  # dotted key -> derivation
    speed: Speed | None = None  # of one thread; None: not known
    wakeups: tuple[Wakeup, ...] = ()  # by idle time; none: it does not matter

    @property
    def mhz(self) -> int:
        """Cycles per microsecond."""
        return self.figures["clock", "mhz"]

    @property
    def latency_words(self) -> str:
        """Return a sentence about latencies without a source; "" if there are none."""
        if not self._unsourced:
            return ""
        if not self.estimated:
            return "Its loads and stores are derived from its atomic operations."
        every = set(OPERATIONS) <= self._unsourced.keys()
        return f"{'Its' if every else 'Some of its'} latencies are estimates."

    @property
    def estimated(self) -> bool:
        """Return true if the author of the file estimated latencies.

        Latencies that Hasp derives from a short file's figures do not count.
        """
        return not self._unsourced.items() <= shorthand.DERIVED.items()

    @property
    def _unsourced(self) -> dict[str, str]:
        """Return the derivations by operation, or by `operation.state`."""
        return {
            key.removeprefix("latency."): words
            for key, words in self.estimates.items()
            if key.startswith("latency")
        }


def names() -> list[str]:
    """Names of the machines that come with Hasp."""
    files = FOLDER.glob(f"*{SUFFIX}")
    return sorted(path.stem for path in files if path != CONSTANTS_FILE)


def find(word: str) -> Path:
    """Return the path of a machine file, given its name or path. Raises HaspError."""
    if word in names():
        return FOLDER / f"{word}{SUFFIX}"
    path = Path(word)
    if path.is_file():
        return path
    if "/" in word or word.endswith(SUFFIX):
        raise HaspError(f"there is no file {word}", "`hasp machine` can write one")
    offer = did_you_mean(word, names())
    raise HaspError(
        f"there is no machine called {word!r}",
        f"{offer}choose one of {', '.join(names())}, or a file of `hasp machine`",
    )


def load(word: str) -> Machine:
    """Return the machine with that name or in that file. Raises HaspError."""
    path = find(word)
    return read(Document.read(path), Document.read(CONSTANTS_FILE))


def read(document: Document, constants: Document) -> Machine:
    """Return a file's machine. Raises HaspError with file, line and key."""
    if document.get(("schema",)) != SCHEMA:
        remedy = f"write schema = {SCHEMA}, or use the version of Hasp that wrote it"
        document.fail(("schema",), "missing or unknown version", remedy)
    problems = Problems()
    if shorthand.is_short(document):
        document = shorthand.expanded(document, problems)
    _tell_unknown(document, problems)
    sources = problems.tell(_texts, document, "sources")
    estimates = problems.tell(_texts, document, "estimates", required=False) or {}
    for dotted in estimates:
        if document.get(tuple(dotted.split("."))) is None:
            key = ("estimates", dotted)
            words = "unknown table or key"
            problems.tell(document.fail, key, words, "name one of this file")
    for table in _tables_with_figures(document) if sources else ():
        problems.tell(_check_source, document, table, sources or {}, estimates)
    figures = _figures(document, constants, problems)
    title = document.get(("title",))
    if not isinstance(title, str):
        remedy = "describe the machine in one line"
        problems.tell(document.fail, ("title",), "missing", remedy)
    protocol = problems.tell(_choice, document, ("protocol", "kind"), PROTOCOLS)
    places = problems.tell(topology.read, document)
    latencies = _latencies(document, places.distances, problems) if places else {}
    fast = problems.tell(speed.read, document, document.path.stem)
    costs = problems.tell(wakeups.read, document)
    problems.raise_all()
    assert places is not None and protocol is not None
    return Machine(
        name=document.path.stem,
        title=str(title),
        path=document.path,
        topology=places,
        protocol=protocol,
        latencies=latencies,
        figures=figures,
        transactional=document.get(("transactions",)) is not None,
        sources=sources or {},
        estimates=estimates,
        speed=fast,
        wakeups=costs or (),
    )


def _figures(
    document: Document, constants: Document, problems: Problems
) -> dict[tuple[str, str], int]:
    transactional = document.get(("transactions",)) is not None
    figures = {}
    for figure in (*FIGURES, *(TRANSACTIONS if transactional else ()), *CONSTANTS):
        # A constant is taken from model.toml unless the file has it.
        other = figure in CONSTANTS and document.get(figure.keys) is None
        value = problems.tell(_figure, constants if other else document, figure)
        figures[figure.keys] = value or 0
    return figures


def _tell_unknown(document: Document, problems: Problems) -> None:
    known = tables()
    for table, content in document.data.items():
        if table in TOP_KEYS:
            continue
        if table not in known:
            near = difflib.get_close_matches(table, [*known, *TOP_KEYS], n=1)
            remedy = f"known: {', '.join(near or known)}"
            problems.tell(document.fail, (table,), "unknown table", remedy)
            continue
        for key in content if isinstance(content, dict) else ():
            if key != "source" and key not in known[table]:
                remedy = f"known keys of [{table}]: {', '.join(sorted(known[table]))}"
                problems.tell(document.fail, (table, key), "unknown key", remedy)


def _texts(document: Document, table: str, required: bool = True) -> dict[str, str]:
    value: Any = document.get((table,))
    if value is None and not required:
        return {}
    if not isinstance(value, dict) or not value:
        remedy = f"write [{table}] with one line of text for each"
        document.fail((table,), "missing", remedy)
    for key, text in value.items():
        if not isinstance(text, str) or not text.strip():
            document.fail((table, key), "must be text", "write it in quotes")
    return dict(value)


def _tables_with_figures(document: Document) -> list[Keys]:
    plain = [(table,) for table in (*tables(), "topology", "protocol")]
    rows = [("latency", operation) for operation in OPERATIONS]
    return [keys for keys in (*plain, *rows) if document.get(keys) is not None]


def _check_source(
    document: Document, table: Keys, sources: dict[str, str], estimates: dict[str, str]
) -> None:
    """Check that a table names its source or is listed as an estimate."""
    source = document.get((*table, "source"))
    if source is None and ".".join(table) in estimates:
        return
    remedy = (
        f"begin it with one of {', '.join(sources)}, or derive it under [estimates]"
    )
    if not isinstance(source, str):
        document.fail((*table, "source"), "missing", remedy)
    name = re.match(r"\w*", source)
    if not name or name[0] not in sources:
        document.fail((*table, "source"), f"unknown source {source!r}", remedy)


def _figure(document: Document, figure: Figure) -> int:
    value = document.get(figure.keys)
    if value is None and figure.default:
        return _figure(document, Figure(figure.table, figure.default, "", figure.least))
    return _number(document, figure.keys, value, figure.least, figure.most)


def _number(document: Document, keys: Keys, value: Any, least: int, most: int) -> int:
    if value is None:
        document.fail(keys, "missing", "write a whole number")
    if not isinstance(value, int) or isinstance(value, bool):
        document.fail(keys, f"{value!r} is not a whole number", "write a whole number")
    if not least <= value <= most:
        sign = "negative" if value < 0 else "out of bounds"
        remedy = f"write a number from {least} to {most}"
        document.fail(keys, f"{value} is {sign}", remedy)
    return value


def _choice(document: Document, keys: Keys, choices: tuple[str, ...]) -> str:
    value = document.get(keys)
    if value not in choices:
        words = "missing" if value is None else f"unknown value {value!r}"
        document.fail(keys, words, f"one of {', '.join(choices)}")
    return str(value)


def _latencies(
    document: Document, distances: tuple[str, ...], problems: Problems
) -> dict[tuple[str, str], Row]:
    rows: dict[tuple[str, str], Row] = {}
    for operation in document.get(("latency",)) or {}:
        if operation not in OPERATIONS:
            remedy = f"one of {', '.join(OPERATIONS)}"
            key = ("latency", operation)
            problems.tell(document.fail, key, "unknown operation", remedy)
    for operation in OPERATIONS:
        table: Any = document.get(("latency", operation))
        if not isinstance(table, dict):
            key, remedy = ("latency", operation), f"write [latency.{operation}]"
            problems.tell(document.fail, key, "missing", remedy)
            continue
        _read_rows(document, operation, distances, rows, problems)
    return rows


def _read_rows(
    document: Document,
    operation: str,
    distances: tuple[str, ...],
    rows: dict[tuple[str, str], Row],
    problems: Problems,
) -> None:
    """Add the rows of an operation, one for each state."""
    table: Any = document.get(("latency", operation))
    for state in table:
        if state not in (*STATES, "source"):
            key, remedy = ("latency", operation, state), f"one of {', '.join(STATES)}"
            problems.tell(document.fail, key, "unknown state", remedy)
    for state in STATES:
        if state in table:
            key = ("latency", operation, state)
            row = problems.tell(_row, document, key, distances)
            # A wrong row must not be missed by the states that it stands in for.
            rows[operation, state] = row or (1,) * len(distances)
    for state in STATES:
        if (operation, state) not in rows:
            made = problems.tell(_stand_in, document, rows, operation, state)
            if made:
                rows[operation, state] = made


def _stand_in(
    document: Document, rows: dict[tuple[str, str], Row], operation: str, state: str
) -> Row:
    """Return the row that applies to a state without its own row."""
    other = rows.get((operation, STANDS_IN.get(state, "")))
    if other is None and state == "invalid":
        other = rows.get(("load", "invalid"))
    if other is None:
        key = ("latency", operation, state)
        document.fail(key, "missing", "give the cycles for each distance")
    return other


def _row(document: Document, keys: Keys, distances: tuple[str, ...]) -> Row:
    value: Any = document.get(keys)
    remedy = f"give cycles for each of {', '.join(distances)}"
    if not isinstance(value, dict):
        document.fail(keys, "must be a table of cycles", remedy)
    for name in value:
        if name not in distances:
            document.fail((*keys, name), "unknown distance", remedy)
    cells = []
    for name in distances:
        cells.append(_number(document, (*keys, name), value.get(name), 1, MOST_CYCLES))
    return tuple(cells)
