# SPDX-License-Identifier: MIT
"""The processes below a program: whether the recorder was loaded into them.

Looked at from outside while they run, so what lived for a moment only may be missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hasp import executable, interpose
from hasp.errors import HaspError
from hasp.interpose import PROFILER

LEAST_LOOKS = 2  # of a process without the library: at first the loader is still busy


def descendants(pid: int) -> Iterator[int]:
    """The process and those below it, as the kernel lists them now."""
    yield pid
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = listing.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from descendants(int(child))


class Family:
    """What has been seen of a program's processes."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._without: dict[tuple[int, Path], int] = {}  # looks, by process and file
        self.loaded = False  # the recorder was in at least one

    def look(self) -> None:
        """See which processes there are, and what is in them."""
        for pid in descendants(self._pid):
            try:
                binary = Path(f"/proc/{pid}/exe").readlink()
                maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
            except OSError:
                continue  # it has ended, or changed its user
            if PROFILER in maps:
                self.loaded = True
                self._without.pop((pid, binary), None)
            elif maps:
                looks = self._without.get((pid, binary), 0)
                self._without[pid, binary] = looks + 1

    def why_no_trace(self) -> HaspError:
        """Why there is nothing to report, as far as can be told."""
        for (_, binary), looks in self._without.items():
            if looks >= LEAST_LOOKS:
                return _why_not_loaded(binary)
        return HaspError(
            "nothing was recorded: no process made a second thread or took a pthread "
            "lock more than a few thousand times",
            "`hasp doctor PROGRAM` says which libraries use such locks, and which "
            "locks are invisible",
        )


def _why_not_loaded(binary: Path) -> HaspError:
    try:
        executable.examine(str(binary), interpose.original_environment())
    except HaspError as problem:
        return HaspError(f"nothing was recorded: {problem.message}", problem.remedy)
    return HaspError(
        f"nothing was recorded: {binary} ran without Hasp's library",
        "something cleared LD_PRELOAD before it was started (env -i, sudo, a service "
        "manager): put `hasp profile --` before that program itself",
    )
