# SPDX-License-Identifier: MIT
"""One run of a command that records its locks, run as a comparison runs it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from hasp.base.errors import HaspError, Interrupted
from hasp.base.output import note
from hasp.compare import run_record as record
from hasp.compare.recorder import Recorder
from hasp.compare.run import REMEDIES, ComparisonRunner
from hasp.compare.settings import Settings
from hasp.locks.native import REFERENCE
from hasp.profile.model.build import load_keeping_symbols
from hasp.profile.model.profile import Profile
from hasp.profile.record.family import why_no_space

WITHOUT_HASP = "run it without Hasp first; if it works, try `hasp profile` on it"


class RecordingHung(HaspError):
    """The recorded command did not end in time."""


def recorded(
    settings: Settings, threads: int | None, trace: Path, *, sample: bool
) -> Profile:
    """Record one run of the command under glibc's locks; returns its profile.

    If there is a server, the server is recorded. Raises RecordingHung if the command
    does not end within the time-out, and HaspError if it fails or takes no locks.
    """
    where = "" if threads is None else f" with {threads} threads"
    note(f"recording a run{where} into {trace}")
    once = dataclasses.replace(
        settings, locks=(REFERENCE,), threads=(threads,), runs=1, warmup=0
    )
    recorder = Recorder(trace, sample=sample)
    recorder.clear()
    try:
        with ComparisonRunner(once, recorder=recorder) as runner:
            run = runner.run(1, once.cells[0])
    except Interrupted:
        note("interrupted while a run was recorded, before anything was found")
        raise
    if run.outcome != record.OK:
        kind = RecordingHung if run.outcome == record.HUNG else HaspError
        raise kind(
            f"the command failed while it was recorded: {run.detail}",
            REMEDIES.get(run.outcome, WITHOUT_HASP),
        )
    traces = recorder.traces()
    if not traces:
        no_space = why_no_space(trace.absolute().parent)
        if no_space is not None:
            raise no_space
        raise HaspError(
            "nothing was recorded: the command has a single thread and takes hardly "
            "any locks",
            "name a multithreaded program",
        )
    return max(map(load_keeping_symbols, traces), key=weight)


def weight(profile: Profile) -> tuple[float, int]:
    """Return a sort key of processes: time in sections, then duration, in ns."""
    sections = sum(thread.section_ns for thread in profile.threads)
    return sections, profile.duration_ns
