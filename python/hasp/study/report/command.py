# SPDX-License-Identifier: MIT
"""Carries out `hasp study report`: summarises a store and writes each format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hasp.base import output
from hasp.base.errors import HaspError
from hasp.base.extras import require
from hasp.base.files import write_file
from hasp.study.records import write_records
from hasp.study.report.page import as_data, render
from hasp.study.report.summary import Summary, metrics_of, summarise
from hasp.study.report.text import latex, markdown, print_verdicts
from hasp.study.samples import Store, open_store


@dataclass(frozen=True)
class Options:
    """The options of `hasp study report`."""

    store: Path
    machines: Sequence[str] = ()  # none: all
    metrics: Sequence[str] = ()  # none: all
    title: str = ""
    html: Path | None = None
    markdown: Path | None = None
    latex: Path | None = None  # a folder
    figures: Path | None = None  # a folder
    formats: list[str] = field(default_factory=lambda: ["png", "svg", "pdf"])
    json: str | None = None


def report(options: Options) -> None:
    """Write the requested files, and print the verdicts or JSON lines."""
    if options.html or options.figures:
        require("report")
    for destination in (options.html, options.markdown):
        if destination:
            output.check_writable(str(destination))
    store = open_store(options.store)
    batches = store.batches()
    units = {batch["machine"]: batch["size_unit"] for batch in batches}
    machines = options.machines or sorted(units)
    summaries = _summaries(store, machines, units, options.metrics)
    title = options.title or f"Locks on {', '.join(machines)}"
    if options.html:
        write_file(options.html, render(summaries, title, batches))
        output.note(f"{options.html}: the report, {len(summaries)} machine x metric")
    figures = _write_parts(summaries, options)
    if options.markdown:
        path = options.markdown
        write_file(path, markdown(summaries, title, batches, figures, beside=path))
    if options.json:
        write_records((as_data(one, summaries) for one in summaries), options.json)
    else:
        print_verdicts(summaries, output.console())


def _summaries(
    store: Store, machines: Sequence[str], units: dict[str, str], metrics: Sequence[str]
) -> list[Summary]:
    samples, descriptive = store.read(), store.descriptive()
    return [
        summarise(
            samples,
            machine,
            metric,
            units.get(machine, "size"),
            inverted=metric in store.lower_is_better(),
        )
        for machine in machines
        for metric in metrics or metrics_of(samples, machine) or [""]
        if metrics or metric not in descriptive
    ]


def _write_parts(summaries: list[Summary], options: Options) -> list[Path]:
    """Write LaTeX tables and figures; returns the figures by machine and metric."""
    figures: list[Path] = []
    try:
        if options.latex:
            options.latex.mkdir(parents=True, exist_ok=True)
            for summary in summaries:
                latex(summary, options.latex)
        if options.figures:
            # Imported here because figures need an extra.
            from hasp.study.report.figures import draw_all

            options.figures.mkdir(parents=True, exist_ok=True)
            for summary in summaries:
                others = [
                    one
                    for one in summaries
                    if one.machine == summary.machine and one is not summary
                ]
                figures += draw_all(summary, others, options.figures, options.formats)
    except OSError as problem:
        raise HaspError(
            f"cannot write {problem.filename}: {problem.strerror}",
            "name a folder that you can write to",
        ) from None
    return figures
