# SPDX-License-Identifier: MIT
"""Find the trace of a report, and load its profile."""

from __future__ import annotations

from pathlib import Path

from hasp.base.errors import HaspError
from hasp.profile.model import build
from hasp.profile.model.merge import merge
from hasp.profile.model.profile import Profile


def open_profile(trace: Path, process: str | None = None) -> Profile:
    """Return the profile of a trace, or of another process of its run."""
    check_exists(trace)
    if process is None:
        return load(trace)
    return _of_process(trace, process)


def open_tree(trace: Path) -> Profile:
    """Return the merged profile of all processes of a trace's run."""
    check_exists(trace)
    first = load(trace)
    paths = [trace.parent / Path(name).name for name in first.others]
    try:
        return merge([first, *(load(path) for path in paths if path.exists())])
    except ValueError as problem:
        raise HaspError(
            f"{trace}: {problem}", "report each process by itself"
        ) from None


def load(trace: Path) -> Profile:
    """Load a profile; the reader is imported on first use."""
    return build.load(trace)


def check_exists(trace: Path) -> None:
    """Raise HaspError if the trace does not exist."""
    if trace.is_dir():
        raise HaspError(f"{trace} is a folder", "name the trace in it: hasp.trace")
    if not trace.exists():
        raise HaspError(
            f"{trace} does not exist",
            "record one: hasp profile -- ./program; it writes hasp.trace",
        )


def _of_process(trace: Path, process: str) -> Profile:
    if not process.isdecimal():
        raise HaspError(
            f"--process {process!r} is not a number",
            "give a process id, or N for hasp.trace.N",
        )
    first = load(trace)
    family = [trace, *(trace.parent / Path(name).name for name in first.others)]
    for path in family[1:]:
        if path.name.endswith(f".{process}") and path.exists():
            return load(path)
    known = []
    for path in family:
        profile = first if path == trace else load(path)
        if profile.pid == int(process):
            return profile
        known.append(f"{profile.pid} ({path.name})")
    raise HaspError(
        f"no process {process} was recorded",
        f"recorded processes: {', '.join(known)}",
    )
