# SPDX-License-Identifier: MIT
"""One recorded run of a command, in the way in which a comparison runs it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.output import note
from hasp.compare import run_record as record
from hasp.compare.recorder import Recorder
from hasp.compare.run import ComparisonRunner
from hasp.compare.settings import Settings
from hasp.locks.native import REFERENCE
from hasp.profile.model.build import load_keeping_symbols
from hasp.profile.model.profile import Profile


def recorded(
    settings: Settings, threads: int | None, trace: Path, *, sample: bool
) -> Profile:
    """Run the plan's command once under glibc's locks, recorded, and read the trace.

    With a server it is the server that is recorded.
    """
    where = "" if threads is None else f" with {threads} threads"
    note(f"recording a run{where} into {trace}")
    once = dataclasses.replace(
        settings, locks=(REFERENCE,), threads=(threads,), runs=1, warmup=0
    )
    recorder = Recorder(trace, sample=sample)
    recorder.clear()
    with ComparisonRunner(once, recorder=recorder) as runner:
        run = runner.run(1, once.cells[0])
    if run.outcome != record.OK:
        raise HaspError(
            f"the command does not work while it is recorded: {run.detail}",
            "see whether `hasp profile` records it; then `hasp advise TRACE`",
        )
    traces = recorder.traces()
    if not traces:
        raise HaspError(
            "nothing was recorded: the command made no second thread and hardly took "
            "a lock",
            "give `hasp advise` a program with threads",
        )
    return max(map(load_keeping_symbols, traces), key=_weight)


def _weight(profile: Profile) -> tuple[float, int]:
    """Of several processes the one that spends most in critical sections counts."""
    sections = sum(thread.section_ns for thread in profile.threads)
    return sections, profile.duration_ns
