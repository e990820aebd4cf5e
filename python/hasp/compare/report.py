# SPDX-License-Identifier: MIT
"""A comparison as tables for the terminal and in Markdown, and its runs as CSV."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from rich.text import Text

from hasp.base.durations import format_duration, three_digits
from hasp.base.output import console, table
from hasp.compare.doubts import Doubt
from hasp.compare.run_record import CPU, MEMORY, WALL, Measure
from hasp.compare.settings import THREADS_MARK
from hasp.compare.store import Comparison
from hasp.compare.summary import WORTH_FINDING, CellSummary, Power, power
from hasp.locks.native import REFERENCE
from hasp.statistics import Ratio
from hasp.statistics.simultaneous import POWER

REFERENCE_NOTE = "reference"
FLOOR_MARGIN = 1.1
CSV_FIELDS = (
    *("block", "warmup", "lock", "threads", "outcome", "detail", "exit_code"),
    *("wall_s", "user_s", "system_s", "peak_bytes", "switches", "preemptions"),
    *("load_user_s", "load_system_s", "load_peak_bytes", "steal", "throttled"),
    *("other_s", "other_load", "heated", "energy_j"),
)
STYLES = {"better": "green", "worse": "red"}


@dataclass(frozen=True)
class TextTable:
    """A table of text, independent of the output format."""

    title: str
    headings: tuple[str, ...]
    lines: list[tuple[str, ...]]
    texts: int = 1  # number of leading columns with words; the others have numbers


def quantity(value: float | None, unit: str) -> str:
    """Return a value rounded for display, with a unit if it is a time or a size."""
    if value is None:
        return "-"
    if unit == "s":
        return format_duration(value)
    if unit == "bytes":
        for size, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
            if value >= size:
                return f"{three_digits(value / size)} {name}"
        return f"{value:.0f} B"
    return f"{value:,.0f}" if abs(value) >= 1000 else three_digits(value)


def times(ratio: Ratio | None) -> str:
    """Return a ratio as text; empty if there is none."""
    return "" if ratio is None else ratio_text(ratio.value)


def ratio_text(value: float) -> str:
    """Return a ratio with two decimals, three below 0.1, and fewer from 10."""
    if value == float("inf"):
        return "inf"
    if 0 < value < 0.0995:
        return f"{value:.3f}"
    return f"{value:.2f}" if value < 9.995 else three_digits(value)


def interval(ratio: Ratio | None) -> str:
    """Return the bounds of a ratio as text; empty if it has none."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return ""
    return f"{ratio_text(ratio.low)} - {ratio_text(ratio.high)}"


def grids(comparison: Comparison, rows: list[CellSummary]) -> list[TextTable]:
    """Return one table for each judged measure, then one for the resources."""
    return [
        *(_figure_grid(comparison, rows, measure) for measure in comparison.judged),
        _resource_grid(comparison, rows),
    ]


def _place(comparison: Comparison, row: CellSummary) -> tuple[str, ...]:
    if len(comparison.settings.threads) == 1:
        return (row.cell.lock,)
    return (str(row.cell.threads), row.cell.lock)


def _place_headings(comparison: Comparison) -> tuple[str, ...]:
    return ("lock",) if len(comparison.settings.threads) == 1 else ("threads", "lock")


def _figure_grid(
    comparison: Comparison, rows: list[CellSummary], measure: Measure
) -> TextTable:
    better = "lower" if measure.lower_is_better else "higher"
    shown_unit = "" if measure.unit in ("", "s", "bytes") else f", {measure.unit}"
    lines = []
    for row in rows:
        entry = row.entry(measure)
        place = _place(comparison, row)
        if not entry.samples:
            lines.append((*place, _short_trouble(row), "", "", "", ""))
            continue
        verdict = REFERENCE_NOTE if row.is_reference else entry.verdict
        lines.append(
            (
                *place,
                quantity(entry.median, measure.unit),
                _ratio_cell(row, entry.ratio),
                interval(entry.ratio),
                str(len(entry.samples)),
                f"{verdict} !" if row.failures else verdict,
            )
        )
    return TextTable(
        f"{measure.name}{shown_unit} ({better} is better)",
        (
            *_place_headings(comparison),
            "median",
            "ratio",
            "95 % interval",
            "runs",
            "verdict",
        ),
        lines,
        texts=len(_place_headings(comparison)),
    )


def _resource_grid(comparison: Comparison, rows: list[CellSummary]) -> TextTable:
    lines = []
    for row in rows:
        if not row.measured:
            continue
        cells: list[str] = []
        for measure in (WALL, CPU, MEMORY):
            entry = row.entry(measure)
            text = quantity(entry.median, measure.unit)
            floor = FLOOR_MARGIN * comparison.peak_floor_bytes
            if measure == MEMORY and (entry.median or 0) < floor:
                # Smaller than the process that starts it, so neither is known.
                cells += [f"< {quantity(floor, measure.unit)}", ""]
            else:
                cells += [text, _ratio_cell(row, entry.ratio)]
        lines.append((*_place(comparison, row), *cells))
    whose = "the server's" if comparison.settings.server else "all its processes"
    return TextTable(
        f"wall time, CPU time and peak memory ({whose}), and ratios to {REFERENCE}",
        (
            *_place_headings(comparison),
            *("wall", "ratio", "CPU", "ratio", "memory", "ratio"),
        ),
        lines,
        texts=len(_place_headings(comparison)),
    )


def _ratio_cell(row: CellSummary, ratio: Ratio | None) -> str:
    """Return the ratio to the reference; `-` if the reference was not measured."""
    return "1.00" if row.is_reference else times(ratio) or "-"


def _short_trouble(row: CellSummary) -> str:
    return " and ".join(row.failures) or "not measured"


def remarks(
    comparison: Comparison, rows: list[CellSummary], doubts: list[Doubt]
) -> list[str]:
    """Return the lines below the tables: failures in full, power, and warnings."""
    lines = [f"{row.cell.words}: {row.trouble}" for row in rows if row.trouble]
    lines += [words for one in power(comparison, rows) if (words := power_words(one))]
    lines += [f"warning: {doubt.words}" for doubt in doubts]
    return lines


def power_words(power: Power) -> str:
    """Return the power statement; empty if there are too few runs for verdicts."""
    if power.detectable is None:
        return ""
    verdicts = "1 verdict" if power.verdicts == 1 else f"{power.verdicts} verdicts"
    target = f"{100 * WORTH_FINDING:.0f} %"
    words = (
        f"power ({power.measure.name}): {power.runs} runs and {verdicts} find a "
        f"difference of {percent(power.detectable)} in {percent(POWER)} of comparisons"
    )
    if power.detectable <= WORTH_FINDING:
        return words
    if power.runs_needed is None:
        return f"{words}; {target} needs steadier runs or fewer locks"
    return f"{words}; {target} needs --runs {power.runs_needed} or fewer locks"


def percent(share: float) -> str:
    """Return a relative difference as a percentage, or as a factor from 1000 % on."""
    if share >= 10:
        return f"a factor of {three_digits(1 + share)}"
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _quoted(word: str) -> str:
    """A word of a command line, quoted if necessary; {threads} needs no quotes."""
    return shlex.quote(word.replace(THREADS_MARK, "THREADS")).replace(
        "THREADS", THREADS_MARK
    )


def headline(comparison: Comparison) -> str:
    """Return the command that was compared, and below it the host."""
    settings = comparison.settings
    command = " ".join(map(_quoted, settings.command))
    subject = f"{settings.server} (load: {command})" if settings.server else command
    if len(settings.threads) == 1:
        subject = settings.substitute(subject, settings.cells[0])
    # Arguments may be any bytes, but tables and figures are text.
    subject = subject.encode(errors="replace").decode()
    return f"{subject}\n{_where(comparison)}"


def _where(comparison: Comparison) -> str:
    host = comparison.host
    quota = host.get("cpu_quota")
    limited = f", quota {quota:g}" if quota else ""
    return (
        f"{host['cpus_allowed']} CPUs{limited} ({host['cpu_model']}), Linux "
        f"{host['kernel']}, {host['libc']}, Hasp {comparison.version}"
    )


def print_comparison(
    comparison: Comparison, rows: list[CellSummary], doubts: list[Doubt]
) -> None:
    """Print the tables to stdout."""
    out = console()
    out.print(headline(comparison))
    for grid in grids(comparison, rows):
        out.print()
        form = table(title=grid.title)
        for index, heading in enumerate(grid.headings):
            numeric = index >= grid.texts and heading != "verdict"
            form.add_column(
                heading,
                justify="right" if numeric else "left",
                no_wrap=index < grid.texts or numeric,
            )
        for line in grid.lines:
            style = STYLES.get(line[-1].rstrip(" !?"))
            if out.no_color or style is None:
                form.add_row(*line)
            else:
                form.add_row(*line[:-1], Text(line[-1], style=style))
        out.print(form)
    lines = remarks(comparison, rows, doubts)
    if lines:
        out.print()
    for text in lines:
        out.print(text)


def markdown(
    comparison: Comparison, rows: list[CellSummary], doubts: list[Doubt]
) -> str:
    """Return the tables as Markdown."""
    subject, _, where = headline(comparison).partition("\n")
    parts = [f"`{subject}`", where]
    for grid in grids(comparison, rows):
        parts += [f"**{grid.title}**", markdown_table(grid)]
    parts += [f"- {escaped_cell(line)}" for line in remarks(comparison, rows, doubts)]
    return "\n\n".join(parts) + "\n"


def markdown_table(grid: TextTable) -> str:
    """Return a table as Markdown, without its title."""
    columns = range(len(grid.headings))
    rule = [":--" if index < grid.texts else "--:" for index in columns]
    lines = [grid.headings, tuple(rule), *grid.lines]
    return "\n".join(_markdown_line(line) for line in lines)


def escaped_cell(text: str) -> str:
    """Return text as one line of Markdown that may stand in a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(escaped_cell, cells))} |"


def csv_text(comparison: Comparison) -> str:
    """One row for each run, including warm-up, with the program's figures last."""
    names = [metric.name for metric in comparison.settings.metrics]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*CSV_FIELDS, *names])
    for run in comparison.runs:
        record = run.as_json()
        figures = [run.figures.get(name) for name in names]
        writer.writerow([*(record[name] for name in CSV_FIELDS), *figures])
    return text.getvalue()
