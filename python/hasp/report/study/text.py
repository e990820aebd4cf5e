# SPDX-License-Identifier: MIT
"""The report as Markdown, and its tables for LaTeX."""

from __future__ import annotations

from pathlib import Path

from hasp.report.study.summary import Summary, best_locks
from hasp.report.study.verdict import sentences, times
from hasp.study.tables import TABLES, Question, Table

# What stands in the report: the tables that need one machine and no second metric.
REPORTED = ("sensitivity", "coverage", "harmful", "breakdown")
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def markdown(summaries: list[Summary], title: str) -> str:
    """The verdicts, then per machine and metric what each program wants."""
    lines = [f"# {title}", ""]
    for summary in summaries:
        lines += [f"## {summary.machine}: {summary.metric}", ""]
        lines += [f"- {sentence}" for sentence in sentences(summary)]
        lines += [
            "",
            "| lock-sensitive program | best over worst | best locks | collapse |",
            "|---|---:|---|---|",
        ]
        gains = summary.gain["max"]
        order = sorted(range(len(gains)), key=lambda place: -gains[place])
        for place in order:
            if summary.sensitive[place]:
                fallen = [
                    lock
                    for number, lock in enumerate(summary.grid.locks)
                    if summary.collapsed[place, number]
                ]
                cells = (
                    summary.grid.programs[place],
                    times(float(gains[place])),
                    ", ".join(best_locks(summary, place)),
                    ", ".join(fallen) or "-",
                )
                lines.append(f"| {' | '.join(map(_cell, cells))} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def latex(summary: Summary, folder: Path) -> list[Path]:
    """A file with a `tabular` for each table; they need the package booktabs."""
    question = Question({summary.machine: summary.grid})
    written = []
    for name in REPORTED:
        stem = f"{summary.machine}-{summary.metric}-{name}".replace("/", "_")
        path = folder / f"{stem}.tex"
        path.write_text(tabular(TABLES[name](question)), encoding="utf-8")
        written.append(path)
    return written


def tabular(table: Table) -> str:
    """A table as LaTeX."""
    words = [
        all(isinstance(row[place], str) for row in table.rows)
        for place in range(len(table.columns))
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
    """Text that LaTeX prints as it is."""
    return "".join(SPECIAL.get(character, character) for character in text)
