# SPDX-License-Identifier: MIT
"""Print the scores of a validation, or write them as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hasp.base import output
from hasp.base.errors import EXIT_FINDING
from hasp.predict.validation.measured import STORE
from hasp.predict.validation.score import (
    MATTERS_MUST,
    TAU_64_GOAL,
    TAU_64_MUST,
    TAU_GOAL,
    TAU_MUST,
    Score,
    mean_ceiling,
    mean_repeated,
    mean_tau,
    mean_tau_of_all,
    pairs_in_order,
    right,
    right_beyond_noise,
)

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = "hasp.predict.validate/1"


def report(scores: list[Score], json: str | None) -> int:
    """Print or write the scores of the twelve programs. Returns the exit status."""
    tau, agreeing = mean_tau(scores), right(scores)
    if json:
        output.write_json(_rows(scores, STORE.name), json)
    if json != output.STDOUT:
        _print(scores, tau, agreeing)
    fine = tau >= TAU_MUST and agreeing >= min(MATTERS_MUST, len(scores))
    return 0 if fine else EXIT_FINDING


def report_study(scores: list[Score], json: str | None) -> int:
    """Print or write the scores of A-64. Returns the exit status.

    It depends on the predictions for the locks that were measured: in the published
    form.
    """
    tau = mean_tau_of_all(scores)
    if json:
        output.write_json(_rows(scores, "A-64"), json)
    if json != output.STDOUT:
        output.console().print(_table(scores))
        output.console().print(
            "order of locks as published, which the study measured, mean tau of all "
            f"programs: {tau:.2f} (must "
            f"{TAU_64_MUST}, goal {TAU_64_GOAL}: "
            f"{_reached(tau, TAU_64_MUST, TAU_64_GOAL)})"
        )
        _print_order(scores)
        _print_remarks(scores)
        _print_shipped(scores)
    return 0 if tau >= TAU_64_MUST else EXIT_FINDING


def _print_shipped(scores: Sequence[Score]) -> None:
    out = output.console()
    table = output.table()
    # LOCKS: those in the tables above; PUBLISHED, HASP'S: tau; PREDICTED: the standard
    # deviation over the locks by their mean, with Hasp's code.
    for heading in ("", "LOCKS", "PUBLISHED", "HASP'S", "PREDICTED"):
        table.add_column(heading, justify="right" if heading else "left")
    for one in scores:
        deviation = one.predicted_shipped
        table.add_row(
            one.program,
            str(one.forms),
            _tau(one.tau),
            _tau(one.tau_shipped),
            "-" if deviation is None else f"{deviation:.0%}",
        )
    out.print("\nThe same with Hasp's code of these locks, which the study had not:")
    out.print(table)
    tau = mean_tau_of_all(scores, shipped=True)
    out.print(f"order of locks with Hasp's code, mean tau of all programs: {tau:.2f}")


def _rows(scores: Sequence[Score], measured_by: str) -> list[dict[str, Any]]:
    return [
        {
            "schema": SCHEMA,
            "measurements": measured_by,
            **asdict(one),
            "matters": one.matters,
            "agrees": one.agrees,
            "agrees_beyond_noise": one.agrees_beyond_noise,
        }
        for one in scores
    ]


def _reached(value: float, must: float, goal: float) -> str:
    return "goal" if value >= goal else "reached" if value >= must else "missed"


def _tau(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _table(scores: Sequence[Score]) -> Table:
    table = output.table()
    # TAU: of the order of locks; REPEATED: of the study's own runs among themselves;
    # CEILING: of a perfect prediction with all runs;
    # ORDER: share of the pairs of locks that the runs tell apart, predicted in order;
    # MEASURED, PREDICTED: standard deviation over the locks by their mean.
    figures = ["TAU", "REPEATED", "CEILING", "ORDER", "MEASURED", "PREDICTED"]
    headings = [*figures, "RIGHT"]
    for heading in ("", *headings):
        table.add_column(heading, justify="right" if heading in headings else "left")
    for one in scores:
        table.add_row(
            one.program,
            _tau(one.tau),
            _tau(one.repeated),
            _tau(one.ceiling),
            "-" if one.in_order is None else f"{one.in_order:.0%}",
            f"{one.measured:.0%}",
            f"{one.predicted:.0%}",
            "yes" if one.agrees else "no",
        )
    return table


def _print_order(scores: Sequence[Score]) -> None:
    share, pairs = pairs_in_order(scores)
    output.console().print(
        f"of the {pairs} pairs of locks of these programs that the measurements tell "
        f"apart, {share:.0%} are predicted in their order"
    )


def _print_remarks(scores: Sequence[Score]) -> None:
    for one in scores:
        output.console().print(f"{one.program}: {one.remark}")


def _print(scores: list[Score], tau: float, agreeing: int) -> None:
    out = output.console()
    out.print(_table(scores))
    out.print(
        f"order of locks, mean tau of the programs to which the lock matters: "
        f"{tau:.2f} (must {TAU_MUST}, goal {TAU_GOAL}: "
        f"{_reached(tau, TAU_MUST, TAU_GOAL)})"
    )
    out.print(
        "the study's own runs, those of even number beside the others: mean tau "
        f"{mean_repeated(scores):.2f}; a perfect prediction, beside all runs: "
        f"{mean_ceiling(scores):.2f}"
    )
    _print_order(scores)
    _print_remarks(scores)
    reached = "reached" if agreeing >= MATTERS_MUST else "missed"
    out.print(
        f"does the lock matter? right for {agreeing} of {len(scores)} (must "
        f"{MATTERS_MUST}: {reached}); for {right_beyond_noise(scores)} if the noise of "
        "the runs is left out"
    )
