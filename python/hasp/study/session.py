# SPDX-License-Identifier: MIT
"""`hasp study plan` and `hasp study run`: from a plan to the batch in a store."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from hasp import host, version
from hasp.durations import format_duration
from hasp.errors import EXIT_FINDING, HaspError, Interrupted
from hasp.output import console, note, table
from hasp.study.campaign import Campaign
from hasp.study.carry_out import (
    Carrying,
    Progress,
    configurations,
    longest_time,
    missing,
    refusal,
)
from hasp.study.journal import Entry, Journal
from hasp.study.plan import Cell
from hasp.study.samples import COLUMNS, Store, create_or_open, file_name

ALWAYS_LESS = ("cpu_s", "peak_bytes")  # what every run has, and less is better
LINE_INTERVAL = 10.0  # seconds between lines of progress


def journal_of(campaign: Campaign, store: Store, machine: str) -> Journal:
    """The runs of that plan on that machine so far."""
    name = file_name(f"{machine}-{campaign.digest}")
    return Journal(store.folder / "journals" / f"{name}.jsonl")


def machine_name(given: str | None) -> str:
    """What the store calls this machine."""
    return given or host.facts().hostname


def show(campaign: Campaign, folder: Path, given: str | None) -> None:
    """Print what a run of the plan would do, from what the store has already."""
    machine = machine_name(given)
    progress = Progress()
    if (folder / "journals").is_dir():
        journal = journal_of(campaign, create_or_open(folder), machine)
        progress = Progress(journal.entries)
        journal.close()
    shown = table(title=campaign.title)
    for heading in ("program", "locks", "threads", "runs of each", "so far"):
        shown.add_column(heading, justify="left" if heading == "program" else "right")
    for program in campaign.programs:
        ours = [one for one in configurations(campaign) if one.program == program]
        so_far = sum(progress.runs_so_far(one) for one in ours)
        repetition = program.repetition
        shown.add_row(
            program.name,
            str(len(program.plan.locks)),
            ", ".join(map(str, program.plan.threads)),
            f"{repetition.least} to {repetition.most}",
            str(so_far),
        )
    out = console()
    out.print(shown)
    for program in campaign.programs:
        lack = missing(program)
        if lack:
            out.print(f"{program.name} is left out: {lack}")
    runs, least, most = longest_time(campaign, progress)
    out.print(
        f"{campaign.configurations} configurations; {runs} runs are left at least: "
        f"{format_duration(least)} to {format_duration(most)} by what the plan says of "
        "each run."
    )


def carry_out(campaign: Campaign, folder: Path, given: str | None) -> int:
    """Run what is left; the exit status is 1 if some configuration never worked."""
    from hasp.study.children import interrupt_on_signals

    machine = machine_name(given)
    store = create_or_open(folder)
    left_out = set()
    for program in campaign.programs:
        lack = refusal(program)  # also where it is missing
        if lack:
            note(f"{program.name} is left out: {lack}")
            left_out.add(program.name)
    if len(left_out) == len(campaign.programs):
        raise HaspError("no program of the plan is installed here", "install some")
    journal = journal_of(campaign, store, machine)
    if journal.entries:
        note(f"going on after {len(journal.entries)} runs in {journal.path}")
    interrupt_on_signals()
    ending: Interrupted | None = None
    with Carrying(campaign, journal) as carrying:
        try:
            _run_all(carrying, left_out)
        except Interrupted as interruption:
            ending = interruption
        finally:
            publish(store, campaign, machine, journal)
            journal.close()
        if ending is not None:
            note("interrupted: the same command goes on from here")
            raise ending
        failed = [
            f"{one.program.name}, {one.cell.words}"
            for one in configurations(campaign)
            if carrying.progress.given_up(one)
        ]
    for words in failed:
        note(f"{words}: failed too often, given up")
    return EXIT_FINDING if failed else 0


def _run_all(carrying: Carrying, left_out: set[str]) -> None:
    begun = last = time.monotonic()
    done = 0
    for one in carrying.steps(left_out):
        entry = carrying.run(one)
        done += 1
        _say_failure(entry)
        now = time.monotonic()
        if now - last < LINE_INTERVAL and not sys.stderr.isatty():
            continue
        last = now
        runs, _, _ = longest_time(carrying.campaign, carrying.progress)
        left = format_duration((now - begun) / done * runs)
        words = f"{one.program.name}, {one.cell.words}: {runs} runs left, {left}"
        if sys.stderr.isatty():
            print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)
        else:
            note(words)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def _say_failure(entry: Entry) -> None:
    if entry.outcome != "ok":
        note(
            f"{entry.program}, {Cell(entry.lock, entry.threads).words}: "
            f"{entry.outcome}: {entry.detail}"
        )
    elif entry.noise:
        note(f"{entry.program} under {entry.lock}: {entry.noise}; run again")


def publish(
    store: Store,
    campaign: Campaign,
    machine: str,
    journal: Journal,
    *,
    lower: Iterable[str] = (),
    more: dict[str, Any] | None = None,
) -> None:
    """What the journal holds so far, as a batch of the store with its provenance.

    `lower`: more metrics of which less is better; `more`: goes into the provenance.
    """
    import polars

    rows = journal.rows()
    if not rows:
        return
    samples = polars.DataFrame(rows).with_columns(machine=polars.lit(machine))
    less = {
        metric.name
        for program in campaign.programs
        for metric in program.plan.metrics
        if metric.lower_is_better
    }
    provenance: dict[str, Any] = {
        "machine": machine,
        "source": campaign.path.name,
        "sha256": campaign.digest,
        "added": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "size_unit": "threads",
        "metrics": sorted({str(row["metric"]) for row in rows}),
        "lower_is_better": sorted({*less, *lower, *ALWAYS_LESS}),
        "runs": sum(entry.counts for entry in journal.entries),
        "title": campaign.title,
        "hasp_version": version(),
        "host": host.facts().as_json(),
        "environment": campaign.environment,
        "programs": {
            program.name: {
                "command": list(program.plan.command),
                "workload": program.workload,
                "knobs": program.knobs,
                "server": program.plan.server,
                "pinning": program.pinning,
            }
            for program in campaign.programs
        },
        **(more or {}),
    }
    store.add(samples.select(COLUMNS), provenance, replace=True)
