# SPDX-License-Identifier: MIT
"""The result of a race on the terminal."""

from __future__ import annotations

import math
import shlex
import statistics
from pathlib import Path
from textwrap import fill

from hasp.base.durations import format_duration
from hasp.base.output import COLUMNS, console, table
from hasp.compare.doubts import host_doubts
from hasp.compare.report import (
    TextTable,
    escaped_cell,
    headline,
    interval,
    markdown_table,
    quantity,
    times,
)
from hasp.compare.settings import Cell, Settings
from hasp.locks.native import REFERENCE
from hasp.tune.answer import FAILED, NOT_RUN, Answer, Row, measures_of
from hasp.tune.carry_out import (
    BUDGET,
    ERROR,
    INTERRUPTED,
    NOTHING_LEFT,
    PROVEN,
    RUNS,
)

MOST_NAMES = 6
SHORTEST_RUN = 0.2  # seconds: shorter runs differ mostly by how the program starts


def name_of(answer: Answer, cell: Cell) -> str:
    """The name of a candidate; with its threads if their number varies."""
    sweep = len(answer.contest.comparison.settings.threads) > 1
    return cell.words if sweep else cell.lock


def best_words(answer: Answer) -> str:
    """The best candidate, and its gain over glibc's lock."""
    best = answer.best
    if best is None:
        return "No candidate is left: see the reasons in the table."
    ratio = answer.to_reference
    if ratio is None:
        if best.cell.lock == REFERENCE:
            return f"{name_of(answer, best.cell)} is the best so far: keep it."
        return f"{name_of(answer, best.cell)} is the best so far."
    bounds = interval(ratio)
    words = f"{name_of(answer, best.cell)} is the best so far: {times(ratio)} times "
    words += "as good as "
    words += f"{REFERENCE} ({bounds})." if bounds else f"{REFERENCE}."
    if answer.keeps_reference:
        words += f" It is not proven to be better: keep {REFERENCE}'s lock."
    return words


def proof_words(answer: Answer) -> str:
    """The proof about the best candidate, or the candidates that remain open."""
    limit = f"{100 * answer.contest.tolerance:.0f} %"
    number = len(answer.rows)
    if answer.best is None:
        return ""
    if answer.proven:
        return (
            f"Proven: with 95 % confidence, none of the {number} candidates is more "
            f"than {limit} better."
        )
    still = answer.open_rows
    never = sum(row.standing == NOT_RUN for row in still)
    words = f"Not proven: {len(still)} of {number} candidates could be more than "
    words += f"{limit} better"
    if not math.isinf(answer.at_most):
        words += f", by at most {100 * answer.at_most:.0f} %"
    if never:
        words += f" ({never} {'has' if never == 1 else 'have'} not run)"
    return f"{words}. To narrow this down, continue with --resume."


def ending_words(answer: Answer) -> str:
    """The reason for the end of the race, with its runs and duration."""
    runs = len(answer.contest.comparison.runs)
    spent = f"{runs} runs in {format_duration(answer.outcome.seconds)}"
    if answer.outcome.resumed:
        spent += f", {answer.outcome.resumed} of them earlier"
    return {
        PROVEN: f"Ended after {spent}: the best is known.",
        BUDGET: f"Ended after {spent}: the budget is spent.",
        RUNS: f"Ended after {spent}: no more were allowed.",
        INTERRUPTED: f"Interrupted after {spent}.",
        ERROR: f"Ended after {spent} by an error.",
        NOTHING_LEFT: f"Ended after {spent}: no other candidate is left.",
    }[answer.outcome.ended]


def requirement_words(answer: Answer) -> list[str]:
    """For each requirement, in how many of its runs the best candidate kept it."""
    if answer.best is None:
        return []
    runs = answer.contest.runs_of(answer.best.cell)
    return [
        f"{item.words}: kept in {item.count(runs)} of "
        f"{name_of(answer, answer.best.cell)}."
        for item in answer.contest.requirements
    ]


def command_line(answer: Answer, plan: Path | None) -> str:
    """The command that runs the program under the best lock."""
    settings = answer.contest.comparison.settings
    best = answer.best
    if best is None or answer.keeps_reference:
        return ""
    words = shlex.join(_subject(settings, best.cell))
    if plan is not None:
        return f"hasp run --plan {shlex.quote(str(plan))} -- {words}"
    return f"hasp run --lock {best.cell.lock} -- {words}"


def _subject(settings: Settings, cell: Cell) -> list[str]:
    """The words of the program under the lock: the server, if there is one."""
    if settings.server is not None:
        return settings.server_for(cell)
    return settings.command_for(cell)


def grid(answer: Answer) -> TextTable:
    """The table of the candidates that ran."""
    contest = answer.contest
    measures = measures_of(contest)
    sweep = len(contest.comparison.settings.threads) > 1
    place = ("threads", "lock") if sweep else ("lock",)
    lines = []
    for row in answer.rows:
        if not row.runs and row.standing != FAILED:
            continue
        name = (str(row.cell.threads), row.cell.lock) if sweep else (row.cell.lock,)
        medians = (
            quantity(row.medians.get(measure.name), measure.unit)
            for measure in measures
        )
        lines.append(
            (
                *name,
                *medians,
                times(row.to_best) or ("1.00" if row == answer.best else ""),
                interval(row.to_best),
                str(row.runs),
                _standing_words(row),
            )
        )
    objective = contest.objective.measure
    better = "lower" if objective.lower_is_better else "higher"
    return TextTable(
        f"{objective.name} ({better} is better), times as good as the best",
        (
            *place,
            *(_heading(measure.name, measure.unit) for measure in measures),
            *("times", "95 % interval", "runs", "state"),
        ),
        lines,
        texts=len(place),
    )


def _heading(name: str, unit: str) -> str:
    return name if unit in ("", "s", "bytes") else f"{name}, {unit}"


def _standing_words(row: Row) -> str:
    if row.standing == FAILED:
        return row.reason.partition(":")[0]
    return row.standing


def lines_of(answer: Answer, plan: Path | None) -> list[str]:
    """Everything below the table, a paragraph each."""
    found = [best_words(answer), proof_words(answer), *requirement_words(answer)]
    found.append(ending_words(answer))
    never = [
        name_of(answer, row.cell) for row in answer.rows if row.standing == NOT_RUN
    ]
    if never and len(never) <= MOST_NAMES:
        found.append(f"Not run: {', '.join(never)}.")
    failed = [row for row in answer.rows if row.standing == FAILED]
    found += [
        f"{name_of(answer, row.cell)}: {row.reason}" for row in failed[:MOST_NAMES]
    ]
    for doubt in host_doubts(answer.contest.comparison):
        found.append(f"warning: {doubt.words}")
    found += short_runs(answer)
    use = command_line(answer, plan)
    if use:
        found.append(f"Use it:\n    {use}")
    return [line for line in found if line]


def short_runs(answer: Answer) -> list[str]:
    """A warning if starting the program is a large part of a run; else nothing."""
    times_s = [
        run.wall_s
        for run in answer.contest.comparison.runs
        if run.measured and run.lock == REFERENCE and run.wall_s
    ]
    usual = statistics.median(times_s) if times_s else math.inf
    if usual >= SHORTEST_RUN:
        return []
    return [
        f"warning: a run takes only {format_duration(usual)}, much of it for starting "
        f"the program; give it work for {SHORTEST_RUN:g} s or more"
    ]


def markdown(answer: Answer, plan: Path | None) -> str:
    """Return the table and the result as Markdown."""
    subject, _, where = headline(answer.contest.comparison).partition("\n")
    shown = grid(answer)
    parts = [f"`{subject}`", where, f"**{shown.title}**", markdown_table(shown)]
    for words in lines_of(answer, plan):
        heading, _, command = words.partition("\n")
        parts.append(f"{heading}\n\n{command}" if command else escaped_cell(words))
    return "\n\n".join(parts) + "\n"


def print_answer(answer: Answer, plan: Path | None) -> None:
    """Print the table and the result to stdout."""
    out = console()
    out.print(headline(answer.contest.comparison))
    shown = grid(answer)
    form = table(title=shown.title)
    last = len(shown.headings) - 1
    for place, heading in enumerate(shown.headings):
        text = place < shown.texts or place == last
        form.add_column(
            heading, justify="left" if text else "right", no_wrap=place != last
        )
    for line in shown.lines:
        form.add_row(*line)
    out.print()
    out.print(form)
    out.print()
    for words in lines_of(answer, plan):
        if words.startswith("Use it"):
            out.print(words, soft_wrap=True)
        else:
            out.print(fill(words, min(out.width, COLUMNS)), soft_wrap=True)
