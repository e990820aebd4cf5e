# SPDX-License-Identifier: MIT
"""The processes of a program, and whether the recorder was loaded into them.

They are polled from outside, so short-lived processes may be missed.
"""

from __future__ import annotations

import os
import pwd
import resource
from collections.abc import Iterator
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.sizes import format_size
from hasp.launch import executable, interpose
from hasp.launch.interpose import PROFILER
from hasp.profile.record import files

# polls of a process without the library, because loading takes a moment
LEAST_LOOKS = 2


def descendants(pid: int) -> Iterator[int]:
    """Yield the process and its current descendants."""
    yield pid
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = listing.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from descendants(int(child))


NOBODY_KNOWN = -1
LEAST_ROOM = 1 << 20  # bytes that a useful trace needs


class Family:
    """The observed processes of a program."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._without: dict[tuple[int, Path], int] = {}  # polls by process and file
        self._users: set[int] = set()  # users of processes with the library

    def look(self) -> None:
        """Poll the processes and the libraries loaded into them."""
        for pid in descendants(self._pid):
            try:
                binary = Path(f"/proc/{pid}/exe").readlink()
                maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
            except OSError:
                continue  # it has ended or changed its user
            if PROFILER in maps:
                self._users.add(_user(pid))
                self._without.pop((pid, binary), None)
            elif maps:
                looks = self._without.get((pid, binary), 0)
                self._without[pid, binary] = looks + 1

    def left(self, session: int) -> list[int]:
        """Return the recorded processes that outlive the program, such as daemons."""
        mark = f"HASP_TRACE_SESSION={session:016x}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue  # it has ended or belongs to another user
            if mark in environment.split(b"\0"):
                found.append(int(folder.name))
        return sorted(found)

    def why_no_trace(self, folder: Path) -> HaspError:
        """Return an error that explains, as far as known, why there is no trace."""
        for (_, binary), looks in self._without.items():
            if looks >= LEAST_LOOKS:
                return _why_not_loaded(binary)
        no_space = why_no_space(folder)
        if no_space is not None:
            return no_space
        others = self._users - {os.geteuid(), NOBODY_KNOWN}
        if others:
            return HaspError(
                f"nothing was recorded: user {_name(others.pop())}, under which the "
                f"program ran, cannot write to {folder}",
                "use -o to name a file in a folder that this user can write to, "
                "such as /tmp/hasp.trace",
            )
        return HaspError(
            "nothing was recorded: no process created a second thread or acquired a "
            "pthread lock more than a few thousand times",
            "`hasp doctor PROGRAM` shows which libraries use such locks, and which "
            "locks are invisible",
        )


def why_no_space(folder: Path) -> HaspError | None:
    """Return an error if no trace fits into the folder; None if one does."""
    if files.room(folder) < LEAST_ROOM:
        return HaspError(
            f"nothing was recorded: {folder} has only "
            f"{format_size(files.room(folder))} left",
            "free some space there, or name a file elsewhere with -o",
        )
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_ROOM:
        return HaspError(
            f"nothing was recorded: files may have at most {format_size(limit)} here",
            f"raise the limit to {format_size(LEAST_ROOM)}: see `ulimit -f`",
        )
    return None


def _user(pid: int) -> int:
    """Return the effective user of a process."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return NOBODY_KNOWN
    fields = status.partition("\nUid:")[2].split()
    return int(fields[1]) if len(fields) > 1 else NOBODY_KNOWN


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _why_not_loaded(binary: Path) -> HaspError:
    try:
        executable.examine(str(binary), interpose.original_environment())
    except HaspError as problem:
        return HaspError(f"nothing was recorded: {problem.message}", problem.remedy)
    return HaspError(
        f"nothing was recorded: {binary} ran without Hasp's library",
        "something cleared LD_PRELOAD before it was started (env -i, sudo, a service "
        "manager): put `hasp profile --` directly in front of that program",
    )
