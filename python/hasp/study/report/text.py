# SPDX-License-Identifier: MIT
"""The report on the terminal, as Markdown, and its tables for LaTeX."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy

from hasp.base.files import write_file
from hasp.statistics.contest import CANNOT_TELL
from hasp.study.report.origin import origins
from hasp.study.report.summary import Summary, best_locks, ranking, stem
from hasp.study.report.verdict import sentences, times
from hasp.study.tables import TABLES, Question, Table, whole

if TYPE_CHECKING:
    from rich.console import Console

# The tables that need one machine and no second metric.
REPORTED = ("sensitivity", "coverage", "harmful", "breakdown")
MOST_NAMED = 6  # locks named in a cell
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def print_verdicts(summaries: Sequence[Summary], out: Console) -> None:
    """Print the verdicts for each machine and metric, in full for the first metric."""
    seen = set()
    for number, summary in enumerate(summaries):
        said = sentences(summary)
        if summary.machine in seen:
            # For further metrics, print only how much the locks matter, and with what
            # certainty.
            said = said[:2]
        seen.add(summary.machine)
        if number:
            out.print()
        out.print(f"{summary.machine}, {summary.metric}", style="bold")
        for sentence in said:
            for line in wrap(
                sentence, out.width, initial_indent="- ", subsequent_indent="  "
            ):
                out.print(line, soft_wrap=True)


def markdown(
    summaries: Sequence[Summary],
    title: str,
    batches: Sequence[Mapping[str, Any]] = (),
    figures: Iterable[Path] = (),
    beside: Path = Path(),
) -> str:
    """Verdict, programs and locks for each machine and metric, as Markdown.

    Links to `figures` are relative to the file that will contain the text, `beside`.
    """
    lines = [f"# {title}", ""]
    pictures = list(figures)
    machines = dict.fromkeys(one.machine for one in summaries)
    for machine in machines:
        ours = [one for one in summaries if one.machine == machine]
        for summary in ours:
            lines += [f"## {machine}: {summary.metric}", ""]
            lines += [f"- {sentence}" for sentence in sentences(summary)]
            lines += ["", *_programs(summary)]
            if summary is ours[0]:
                lines += ["", *_locks(summary)]
            lines += _pictures(summary, pictures, beside)
            lines.append("")
        come_from = origins(batches, machine)
        if come_from:
            lines += [f"## {machine}: where the runs come from", ""]
            lines += [f"- {_cell(sentence)}" for sentence in come_from]
            lines.append("")
    return "\n".join(lines)


def _programs(summary: Summary) -> list[str]:
    gains, grid = summary.gain["max"], summary.grid
    order = [int(index) for index in numpy.argsort(-numpy.nan_to_num(gains))]
    told = [
        sum(one.verdict == CANNOT_TELL for one in found.values())
        for found in summary.contests
    ]
    rows = []
    for index in order:
        if summary.sensitive[index]:
            fallen = [
                lock
                for number, lock in enumerate(grid.locks)
                if summary.collapsed[index, number]
            ]
            rows.append(
                (
                    grid.programs[index],
                    times(float(gains[index])),
                    _few(best_locks(summary, index), len(grid.locks)),
                    f"{told[index]} of {len(summary.contests[index]) - 1}",
                    _few(fallen, len(grid.locks)),
                )
            )
    lines = []
    if rows:
        heads = (
            *("lock-sensitive program", "best over worst", "best locks"),
            *("others not distinguishable from it", "collapse"),
        )
        lines = _table(heads, "lrlrl", rows)
    others = [grid.programs[index] for index in order if not summary.sensitive[index]]
    if others:
        words = ", ".join(map(_cell, sorted(others)))
        lines += [*([""] if lines else []), f"Not lock-sensitive: {words}."]
    return lines


def _few(names: list[str], all_of_them: int) -> str:
    """Return a list of locks, abbreviated if it is long."""
    if len(names) == all_of_them:
        return "every lock"
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return ", ".join(names) or "-"


def _locks(summary: Summary) -> list[str]:
    """Return the standing of each lock, by descending coverage."""
    found = summary.coverage, summary.harmful
    figures = [one[point] for one in found for point in ("max", "opt")]
    beats = summary.superiority["opt"]
    rows = []
    for index in ranking(summary.coverage["opt"]):
        known = beats[index][~numpy.isnan(beats[index])]
        average = float(known.mean()) if len(known) else float("nan")
        shares = [whole(float(figure[index])) for figure in figures]
        cells = [
            "-" if cell is None else f"{cell} %" for cell in (*shares, whole(average))
        ]
        rows.append((summary.grid.locks[index], *cells))
    heads = (
        *("lock", "among the best, largest size", "at its best size"),
        *("harmful, largest size", "at its best size", "beats another"),
    )
    return _table(heads, "lrrrrr", rows) if rows else []


def _table(
    heads: Sequence[str], kinds: str, rows: Iterable[Sequence[str]]
) -> list[str]:
    rule = "|".join("---:" if kind == "r" else "---" for kind in kinds)
    lines = [f"| {' | '.join(heads)} |", f"|{rule}|"]
    return lines + [f"| {' | '.join(map(_cell, row))} |" for row in rows]


def _pictures(summary: Summary, figures: list[Path], beside: Path) -> list[str]:
    """Links to the figures of a summary, one for each."""
    ours = [path for path in figures if path.name.startswith(f"{stem(summary)}-")]
    by_name = {path.stem: path for path in ours if path.suffix in (".svg", ".png")}
    lines = []
    for name, path in by_name.items():
        words = name.removeprefix(f"{stem(summary)}-").replace("-", " ")
        link = Path(os.path.relpath(path, beside.parent)).as_posix()
        lines += ["", f"![{_cell(words)}]({link.replace(' ', '%20')})"]
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def latex(summary: Summary, folder: Path) -> list[Path]:
    """Write a file with a `tabular` for each table; they need the package booktabs."""
    question = Question({summary.machine: summary.grid})
    written = []
    for name in REPORTED:
        stem = f"{summary.machine}-{summary.metric}-{name}".replace("/", "_")
        path = folder / f"{stem}.tex"
        write_file(path, tabular(TABLES[name](question)))
        written.append(path)
    return written


def tabular(table: Table) -> str:
    """Return a table as LaTeX."""
    words = [
        all(isinstance(row[index], str) for row in table.rows)
        for index in range(len(table.columns))
    ]
    kinds = "".join("l" if text else "r" for text in words)
    lines = [f"\\begin{{tabular}}{{{kinds}}}", "\\toprule"]
    heads = [escaped(column.replace("_", " ")) for column in table.columns]
    lines += [f"{' & '.join(heads)} \\\\", "\\midrule"]
    for row in table.rows:
        cells = ["--" if cell is None else escaped(str(cell)) for cell in row]
        lines.append(f"{' & '.join(cells)} \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def escaped(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    return "".join(SPECIAL.get(character, character) for character in text)
