# SPDX-License-Identifier: MIT
"""One recorded run of a command, in the way in which a comparison runs it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from hasp import interpose
from hasp.errors import HaspError
from hasp.native import REFERENCE
from hasp.output import note
from hasp.profile.build import keep_symbols, load
from hasp.profile.model import Profile
from hasp.recording import files
from hasp.recording.target import settings_of
from hasp.study import record
from hasp.study.plan import Plan
from hasp.study.run import Runner

RECORDED = "recorded"  # the name of the recorded run, among those of locks


def recorded(plan: Plan, threads: int | None, trace: Path, *, sample: bool) -> Profile:
    """Run the plan's command once under glibc's locks, recorded, and read the trace.

    With a server it is the server that is recorded.
    """
    where = "" if threads is None else f" with {threads} threads"
    note(f"recording a run{where} into {trace}")
    once = dataclasses.replace(
        plan, locks=(RECORDED,), threads=(threads,), runs=1, warmup=0
    )
    cell = once.cells[0]
    subject = once.server_for(cell) if once.server else once.command_for(cell)
    session = files.new_session()
    settings = settings_of(trace, session, REFERENCE, sample=sample)
    base = interpose.original_environment()
    environment = interpose.environment(REFERENCE, base, subject, settings)
    files.clear(trace.absolute())
    with Runner(once, {RECORDED: environment}) as runner:
        run = runner.run(1, cell)
    if run.outcome != record.OK:
        raise HaspError(
            f"the command does not work while it is recorded: {run.detail}",
            "see whether `hasp profile` records it; then `hasp advise TRACE`",
        )
    traces = files.of_session(trace.absolute(), session)
    if not traces:
        raise HaspError(
            "nothing was recorded: the command made no second thread and hardly took "
            "a lock",
            "give `hasp advise` a program with threads",
        )
    for item in traces:
        keep_symbols(item.path)
    return max((load(item.path) for item in traces), key=_weight)


def _weight(profile: Profile) -> tuple[float, int]:
    """Of several processes the one that spends most in critical sections counts."""
    sections = sum(thread.section_ns for thread in profile.threads)
    return sections, profile.duration_ns
