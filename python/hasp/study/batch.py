# SPDX-License-Identifier: MIT
"""`hasp study plan` and `hasp study run`: the runs of a campaign in a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from textwrap import wrap
from typing import Any

from hasp import version
from hasp.base import host
from hasp.base.durations import format_duration
from hasp.base.errors import EXIT_FINDING, HaspError, Interrupted
from hasp.base.output import console, note, table
from hasp.base.signals import interrupt_on_signals
from hasp.compare.settings import Cell
from hasp.study.campaign import Campaign
from hasp.study.carry_out import (
    Carrying,
    Tally,
    configurations,
    longest_time,
    missing,
    to_record,
)
from hasp.study.journal import Journal, JournalEntry
from hasp.study.metrics import DESCRIPTIVE, less_is_better
from hasp.study.program import StudyProgram
from hasp.study.samples import COLUMNS, Store, create_or_open, file_name
from hasp.study.watching import StudyDisplay, say_doubts


def journals_of(campaign: Campaign, store: Store, machine: str) -> list[Path]:
    """The journals of a campaign on a machine: this host's first, then a cluster's."""
    folder = store.folder / "journals"
    name = file_name(f"{machine}-{campaign.digest}")
    return [folder / f"{name}.jsonl", *sorted(folder.glob(f"{name}.parts/*.jsonl"))]


def journal_of(
    campaign: Campaign, store: Store, machine: str, *, alone: bool = False
) -> Journal:
    """Return the journal with all runs of a campaign on a machine so far.

    With `alone`, raise HaspError if another process makes these runs.
    """
    ours, *others = journals_of(campaign, store, machine)
    return Journal(ours, others, alone=alone)


def machine_name(given: str | None) -> str:
    """Return the name of this host in the store."""
    return given or host.facts().hostname


def show(campaign: Campaign, folder: Path, given: str | None) -> None:
    """Print the runs that remain, given those already in the store."""
    machine = machine_name(given)
    progress = Tally()
    if (folder / "journals").is_dir():
        journal = journal_of(campaign, create_or_open(folder), machine)
        progress = Tally(journal.entries)
        journal.close()
    shown = table(title=campaign.title)
    unit = campaign.size_unit
    for heading in ("program", "locks", unit, "runs of each", "so far"):
        shown.add_column(heading, justify="left" if heading == "program" else "right")
    for program in campaign.programs:
        ours = [one for one in configurations(campaign) if one.program == program]
        so_far = sum(progress.runs_so_far(one) for one in ours)
        shown.add_row(
            program.name,
            str(len(program.settings.locks)),
            ", ".join(map(str, program.settings.threads)),
            _runs(program),
            str(so_far),
        )
    out = console()
    out.print(shown)
    left_out = set()
    for program in campaign.programs:
        lack = missing(program, campaign.environment)
        if lack:
            out.print(f"{program.name} is skipped: {lack}")
            left_out.add(program.name)
    runs, least, most = longest_time(campaign, progress, left_out)
    times = dict.fromkeys(map(format_duration, (least, most)))
    words = (
        f"{campaign.configurations} configurations; at least {runs} runs are left, "
        f"which take {' to '.join(times)} by the campaign's estimates."
    )
    out.print("\n".join(wrap(words, out.width)))


def _runs(program: StudyProgram) -> str:
    """Return the number of runs of each of its configurations, as text."""
    repetition, recorded = program.repetition, program.recorded_runs
    words = f"{repetition.least} to {repetition.most}"
    return f"{words}, {recorded} recorded" if recorded else words


def carry_out(campaign: Campaign, folder: Path, given: str | None) -> int:
    """Make the remaining runs; returns 1 if a configuration never worked."""
    machine = machine_name(given)
    store = create_or_open(folder)
    journal = journal_of(campaign, store, machine, alone=True)
    interrupt_on_signals()
    ending: Interrupted | None = None
    with closing(journal), Carrying(campaign, journal) as carrying:
        for name, why in carrying.left_out.items():
            note(f"{name} is skipped: {why}")
        if len(carrying.left_out) == len(campaign.programs):
            raise HaspError(
                "no program of the campaign is installed here", "install one"
            )
        if journal.entries:
            note(f"resuming after {len(journal.entries)} runs in {journal.path}")
        try:
            _run_all(carrying)
        except Interrupted as interruption:
            ending = interruption
        finally:
            publish(store, campaign, machine, journal)
        if ending is not None:
            note("interrupted: the same command resumes from here")
            raise ending
    failed = given_up(campaign, carrying.progress)
    for words in failed:
        note(words)
    say_doubts(journal.entries)
    return EXIT_FINDING if failed else 0


def _run_all(carrying: Carrying) -> None:
    with StudyDisplay(carrying.campaign, carrying.progress, carrying.left_out) as watch:
        for one in carrying.steps():
            watch.starting(one)
            watch.finished(one, carrying.run(one))


def failures(campaign: Campaign, progress: Tally) -> list[JournalEntry]:
    """Return the last failure of each abandoned configuration."""
    return [
        progress.last_failure[one.key]
        for one in (*configurations(campaign), *to_record(campaign))
        if progress.given_up(one)
    ]


def given_up(campaign: Campaign, progress: Tally) -> list[str]:
    """Return the abandoned configurations, as messages."""
    found = []
    for failure in failures(campaign, progress):
        words = Cell(failure.lock, failure.threads, campaign.size_unit).words
        recorded = ", recorded" if failure.recorded else ""
        found.append(
            f"{failure.program}, {words}{recorded}: failed too often, given up"
        )
    return found


def without_name(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts about a host without its name, since the user names it in the store."""
    return {name: value for name, value in facts.items() if name != "hostname"}


def _failures(campaign: Campaign, journal: Journal) -> list[dict[str, Any]]:
    names = ("program", "lock", "threads", "outcome", "detail")
    return [
        {name: getattr(failure, name) for name in names}
        for failure in failures(campaign, Tally(journal.entries))
    ]


def publish(
    store: Store,
    campaign: Campaign,
    machine: str,
    journal: Journal,
    *,
    lower: Iterable[str] = (),
    more: dict[str, Any] | None = None,
) -> None:
    """Write the runs of the journal to the store as a batch, with their provenance.

    `lower` names further metrics whose lower values are better; `more` is added to the
    provenance.
    """
    import polars

    rows = journal.rows()
    if not rows:
        return
    samples = polars.DataFrame(rows).with_columns(machine=polars.lit(machine))
    own = [
        metric for program in campaign.programs for metric in program.settings.metrics
    ]
    measured = sorted({str(row["metric"]) for row in rows})
    provenance: dict[str, Any] = {
        "machine": machine,
        "source": campaign.path.name,
        "sha256": campaign.digest,
        "added": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "size_unit": campaign.size_unit,
        "metrics": measured,
        "lower_is_better": sorted({*less_is_better(own), *lower} & {*measured}),
        "descriptive": [name for name in DESCRIPTIVE if name in measured],
        "runs": sum(entry.counts for entry in journal.entries),
        "title": campaign.title,
        "hasp_version": version(),
        "host": without_name(host.facts().as_json()),
        "failures": _failures(campaign, journal),
        "doubts": Counter(entry.doubt for entry in journal.entries if entry.doubt),
        "environment": campaign.environment,
        "programs": {one.name: _facts(one) for one in campaign.programs},
        **(more or {}),
    }
    store.add(samples.select(COLUMNS), provenance, replace=True)


def _facts(program: StudyProgram) -> dict[str, Any]:
    """Return the description of a program in the provenance."""
    return {
        "command": list(program.settings.command),
        "workload": program.workload,
        "knobs": program.knobs,
        "server": program.settings.server,
        "pinning": program.pinning,
        "plans": {file.plan.name: file.digest for file in program.plan_files},
        "recorded_runs": program.recorded_runs,
    }
