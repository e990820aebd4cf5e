# SPDX-License-Identifier: MIT
"""Records a case of a test program, and finds its locks by the names that it prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lock_list import BUILD
from preload import matrix

from hasp.profile.trace.format import ChunkKind, EventKind, LockKind, Operation
from hasp.profile.trace.reader import Trace

PROGRAMS = BUILD / "tests" / "programs" / "profile"
LIBRARY = BUILD / "src" / "preload" / "profile" / "libhasp-profile.so"
TELLS = re.compile(r"^(\w+)=0x([0-9a-f]+)$", re.M)


@dataclass(frozen=True)
class Recorded:
    """A trace, and the address of each lock that the program named."""

    trace: Trace
    addresses: dict[str, int]

    @cached_property
    def locks(self) -> Any:
        return self.trace.numbered(ChunkKind.LOCKS)

    @cached_property
    def names(self) -> dict[int, str]:
        """Return lock names by number; an unnamed lock has the name of its kind."""
        known = {address: name for name, address in self.addresses.items()}
        return {
            number: known.get(int(lock["address"]), LockKind(lock["kind"]).name)
            for number, lock in enumerate(self.locks)
            if lock["kind"]
        }

    def number(self, name: str) -> int:
        """Return the number of the most recent lock of this name."""
        return max(number for number, found in self.names.items() if found == name)

    def use(self, name: str, operation: Operation) -> dict[str, int]:
        """Return the statistics of this lock's site, summed over all threads."""
        site = self.locks[self.number(name)]["site"]
        stats = self.trace.all(ChunkKind.SITE_STATS)
        chosen = stats[(stats["site"] == site) & (stats["operation"] == operation)]
        fields = [name for name in stats.dtype.names if stats.dtype[name].kind == "u"]
        most = {"wait_most", "hold_most"}
        return {
            name: int(chosen[name].max() if name in most else chosen[name].sum())
            for name in fields
            if len(chosen)
        }

    @property
    def events(self) -> list[tuple[str, str, int]]:
        """Return each event as kind, lock and count."""
        return [
            (EventKind(event["kind"]).name, self.names[event["lock"]], event["count"])
            for event in self.trace.all(ChunkKind.EVENTS)
        ]

    @property
    def lock_order(self) -> dict[tuple[str, str], tuple[int, bool]]:
        """Return each pair's count, and whether inner was only taken by trylock."""
        return {
            (self.names[edge["outer"]], self.names[edge["inner"]]): (
                int(edge["count"]),
                bool(edge["by_try"]),
            )
            for edge in self.trace.all(ChunkKind.LOCK_ORDER)
        }


def environment(lock: str | None, path: Path, mode: str = "full") -> dict[str, str]:
    """Return the environment for recording a program, under `lock` or glibc's mutex."""
    settings = {
        "HASP_TRACE": str(path),
        "HASP_TRACE_MODE": mode,
        "HASP_TRACE_SESSION": "0123456789abcdef",
        "HASP_TRACE_LOCK": lock or "glibc",
    }
    found = next(each for each in matrix.locks() if each.name == lock)
    env = matrix.environment(found, settings)
    after = [env["LD_PRELOAD"]] if "LD_PRELOAD" in env else []
    env["LD_PRELOAD"] = ":".join([str(LIBRARY), *after])
    return env


def record(
    program: str, case: str, lock: str | None, path: Path, mode: str = "full"
) -> Recorded:
    """Run one case, and read its trace."""
    command: list[str | Path] = [PROGRAMS / f"profile_{program}", case]
    status, text = matrix.run_command(command, environment(lock, path, mode))
    assert status == 0, f"{program} {case} under {lock}: {status}\n{text}"
    addresses = {name: int(digits, 16) for name, digits in TELLS.findall(text)}
    return Recorded(Trace(path), addresses)
