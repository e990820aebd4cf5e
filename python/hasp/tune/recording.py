# SPDX-License-Identifier: MIT
"""The recording of the program that is tuned: made now, or by an earlier command."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from hasp.base.durations import format_duration
from hasp.base.errors import HaspError
from hasp.base.output import note
from hasp.compare.recorded_run import RecordingHung, recorded, weight
from hasp.compare.settings import Settings
from hasp.launch.executable import find
from hasp.profile.model.build import load_keeping_symbols
from hasp.profile.model.profile import Profile
from hasp.profile.record import files
from hasp.tune.options import Options

LONGEST_COMMAND = 4096  # bytes of a command in a trace
ELF = b"\x7fELF"


def recording(options: Options, settings: Settings, session: int = 0) -> Profile:
    """Return the profile of the program: of the given trace, or of a run made now.

    A resumed race uses the trace of the earlier one, whose `session` its file contains,
    or else any of the same command. Raises HaspError if the given trace is of another
    command, or if the command fails or does not end within the time-out and the budget.
    """
    trace = options.trace
    if options.recorded:
        profile = load_keeping_symbols(trace)
        _refuse_other_command(profile, options, settings)
        return profile
    if options.resume:
        earlier = _of_session(trace, session) or _of_command(trace, settings)
        if earlier is not None:
            return earlier
    return _record(options, settings)


def session_of(trace: Path) -> int:
    """Return the number of the recording that made a trace; 0 if there is none."""
    found = [files.head(name) for name in files.names(trace)]
    return next((one.session for one in found if one is not None), 0)


def _of_session(trace: Path, session: int) -> Profile | None:
    """The profile of the recording with this number, if the traces are still there.

    A command such as `sh -c` runs the program under a name of its own, so the number
    says more than the recorded command.
    """
    if not session:
        return None
    found = []
    for one in files.of_session(trace, session):
        with contextlib.suppress(HaspError):  # as of a process that ended early
            found.append(load_keeping_symbols(one.path))
    return max(found, key=weight) if found else None


def _of_command(trace: Path, settings: Settings) -> Profile | None:
    """The profile in a trace if it is of this command; else a note says why not."""
    if not trace.exists():
        return None
    try:
        profile = load_keeping_symbols(trace)
    except HaspError as problem:
        note(f"{trace} is not used: {problem.message}")
        return None
    if _is_of(profile.command, settings):
        return profile
    note(f"{trace} is not used: it is a recording of another command")
    return None


def _record(options: Options, settings: Settings) -> Profile:
    most = max(settings.threads, key=lambda count: count or 0)
    limit = min(settings.timeout_s, options.budget_s)
    try:
        return recorded(
            dataclasses.replace(settings, timeout_s=limit),
            most,
            options.trace,
            sample=True,
        )
    except RecordingHung as problem:
        if limit == settings.timeout_s:
            raise
        budget = format_duration(options.budget_s)
        raise HaspError(
            f"the budget of {budget} is spent, and the command, which is recorded "
            "first, has not ended",
            "give it less work, or more time with --budget",
        ) from problem


def _refuse_other_command(
    profile: Profile, options: Options, settings: Settings
) -> None:
    if _is_of(profile.command, settings):
        return
    if not _is_binary(_commands(settings)[0][0]):
        note(f"{options.trace}: assumed to be a recording of a program that this runs")
        return
    raise HaspError(
        f"{options.trace} is a recording of another command: "
        f"{' '.join(profile.command)}",
        "leave out --trace, so that this command is recorded",
    )


def _commands(settings: Settings) -> list[list[str]]:
    """The command of the program at each number of threads; the server's if any."""
    if settings.server is not None:
        return [settings.server_for(cell) for cell in settings.cells]
    return [settings.command_for(cell) for cell in settings.cells]


def _is_of(recorded_words: Sequence[str], settings: Settings) -> bool:
    """Whether the recorded process is the command, or runs or is run by it.

    `env X=1 ./program` becomes `./program`, and a script becomes `/bin/sh script`.
    """
    seen = list(recorded_words)
    if len("\0".join(seen).encode()) >= LONGEST_COMMAND - 1:
        return any(
            seen[1:-1] == words[1 : len(seen) - 1] for words in _commands(settings)
        )
    return any(
        _ends_with(words, seen) or _ends_with(seen, words)
        for words in _commands(settings)
    )


def _ends_with(words: Sequence[str], end: Sequence[str]) -> bool:
    """Whether words end with a command; folders of its program do not matter."""
    if not end or len(words) < len(end):
        return False
    last = words[-len(end) :]
    name, wanted = Path(last[0]).name, Path(end[0]).name
    return name == wanted and list(last[1:]) == list(end[1:])


def _is_binary(word: str) -> bool:
    """Whether the program is not a script, which could run any other."""
    path = find(word, os.environ)
    if path.name in ("sh", "bash", "dash", "env"):
        return False
    try:
        with path.open("rb") as file:
            return file.read(4) == ELF
    except OSError:
        return True
