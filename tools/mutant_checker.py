# SPDX-License-Identifier: MIT
"""Builds hasp-explore with one mutant of one lock, and runs its clients on it.

The build folder is not changed: the mutant and a lock list of one entry are written to
a folder of their own, which comes first on the include path. Sources that include
neither are linked as the build compiled them.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mutants import (
    INCLUDES,
    LISTS,
    SOURCES,
    entry_of,
    file_of,
    includes_of,
    list_of_one,
    name_of,
    path_of,
)

# The files that depend on a list, and so are recompiled for each mutant.
LIST_USERS = {
    "mutex": {"locks.def", "list/descriptor.h"},
    "rwlock": {"rwlocks/rwlocks.def", "rwlocks/list/descriptor.h"},
    "spinlock": {"spinlocks/spinlocks.def"},
    "barrier": {"barriers/barriers.def"},
}
# The time after which a compiler or checker counts as stuck; a client's own limit is
# far below.
STUCK_SECONDS = 120

# Clients in the order of their runs: the first are small and catch most mutants.
FIRST_CLIENTS = (
    *("pair", "timed", "another", "last", "queue", "leavers", "node-queue"),
    *("cohort-leaver", "cohorts", "cohort-series", "scarce", "scarce-leaver"),
    *("long-queue", "long-node-queue", "condition", "fork", "fork-pass", "trylock"),
    *("writers", "write-read", "fenced", "together", "recursive", "own"),
    *("gives-up", "trylocks", "admitted", "fork-reader", "phases", "three", "destroy"),
)

FINDINGS = 1  # exit status of hasp-explore
CRASH = "crash"  # the client ended without a verdict


class BuildError(RuntimeError):
    """A mutant that does not compile, or whose check ends without a verdict. That is a
    defect of the tools, not a catch."""


@dataclass
class Verdict:
    """The verdict of the clients on one lock."""

    caught_by: str = ""  # client
    verdict: str = ""
    detail: str = ""
    bounds: dict[str, str] = field(
        default_factory=dict
    )  # client -> how far it explored
    seconds: float = 0.0


@dataclass(frozen=True)
class Source:
    """A source of hasp-explore, with its compiler command and its object file."""

    path: Path
    command: tuple[str, ...]
    object: str

    def includes(self) -> set[str]:
        """Return the files of the locks that it includes, and itself if it is one."""
        names = INCLUDES.findall(self.path.read_text(encoding="utf-8"))
        own = file_of(self.path) if self.path.is_relative_to(SOURCES) else ""
        return {own}.union(*(includes_of(file_of(SOURCES / name)) for name in names))


class Checker:
    """hasp-explore of one build folder, for locks with and without mutants."""

    def __init__(self, build: Path) -> None:
        self.build = build.resolve()
        commands = json.loads((build / "compile_commands.json").read_text())
        self.sources: list[Source] = []
        self.engine: list[str] = []
        for command in commands:
            output: str = command["output"]
            if "libexplorer.a.p/" in output or "hasp-explore.p/" in output:
                self.engine.append(output)
            elif "locks-checked.a.p/" in output or "explorer-clients.a.p/" in output:
                path = (build / command["file"]).resolve()
                words = strip_outputs(shlex.split(command["command"]))
                if Path(words[0]).name == "ccache":
                    del words[0]  # options follow the compiler's name
                self.sources.append(Source(path, tuple(words), output))
        if not self.engine:
            raise BuildError(f"{build} has no hasp-explore: run `make build` first")
        listed = self._run([str(build / "src/explorer/hasp-explore"), "--list-clients"])
        self.clients: dict[str, list[str]] = {kind: [] for kind in LISTS}
        for line in listed.stdout.splitlines():
            client = json.loads(line)
            self.clients.setdefault(client["kind"], []).append(client["client"])
        for names in self.clients.values():
            names.sort(key=order)

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command,
                cwd=self.build,
                capture_output=True,
                text=True,
                timeout=STUCK_SECONDS,
            )
        except subprocess.TimeoutExpired:
            name = Path(command[0]).name
            raise BuildError(f"{name}: no end within {STUCK_SECONDS} s") from None

    def make(self, folder: Path, lock: str, file: str, text: str) -> Path:
        """Build hasp-explore with only this lock, and with `text` as that of `file`."""
        entry = entry_of(lock)
        write(folder, LISTS[entry.kind], list_of_one(entry))
        changed = {*LIST_USERS[entry.kind]}
        if file:
            write(folder, path_of(file), text)
            changed.add(file)
        objects: list[str] = []
        for source in self.sources:
            if source.includes() & changed:
                path = overlaid(folder, source.path)
                made = str(folder / f"{len(objects)}.o")
                given = path if path.exists() else source.path
                self._compile(
                    [source.command[0], f"-I{folder}", *source.command[1:]], given, made
                )
                objects.append(made)
            else:
                objects.append(source.object)
        program = folder / "hasp-explore"
        linked = self._run(["cc", "-o", str(program), *objects, *self.engine])
        if linked.returncode:
            raise BuildError(linked.stderr)
        return program

    def _compile(self, command: list[str], source: Path, made: str) -> None:
        done = self._run([*command, "-w", "-g0", "-o", made, "-c", str(source)])
        if done.returncode:
            raise BuildError(done.stderr)

    def explore(
        self, program: Path, lock: str, states: int, clients: list[str]
    ) -> Verdict:
        """Run each client with this limit of states, until one finds something. A limit
        in seconds would mean little on a busy machine."""
        total = Verdict()
        crashes = []
        for client in clients:
            row = self._client(program, lock, client, states)
            if row is None:
                continue
            total.seconds += row["seconds"]
            if row["verdict"] == CRASH:
                crashes.append(row["detail"])
            elif row["verdict"] != "ok":
                total.caught_by = client
                total.verdict, total.detail = row["verdict"], row["detail"]
                return total
            else:
                bound = f"{row['preemptions']} preemptions"
                total.bounds[client] = "complete" if row["complete"] else bound
        if crashes:
            raise BuildError(f"{lock}: {crashes[0]}")
        if not total.bounds:
            raise BuildError(f"no client ran on {lock}")
        return total

    def _client(
        self, program: Path, lock: str, client: str, states: int
    ) -> dict[str, Any] | None:
        """The line printed by hasp-explore, or None if the client skips this lock."""
        command = [
            *(str(program), "--quiet", "--kind", entry_of(lock).kind),
            *("--lock", name_of(lock), "--client", client),
            *("--states", str(states), "--time-limit", str(STUCK_SECONDS / 2)),
        ]
        try:
            done = self._run(command)
        except BuildError as error:
            return {"verdict": CRASH, "detail": f"{client}: {error}", "seconds": 0.0}
        if done.returncode not in (0, FINDINGS):
            detail = f"exit status {done.returncode} {done.stderr[-200:]}"
            return {"verdict": CRASH, "detail": f"{client}: {detail}", "seconds": 0.0}
        if not done.stdout:
            return None
        row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return row

    def check(
        self,
        lock: str,
        file: str,
        text: str,
        states: int,
        clients: list[str] | None = None,
    ) -> Verdict:
        """The verdict of the clients (None: all) on a lock, with `text` in place of the
        text of `file` ("": unchanged)."""
        with tempfile.TemporaryDirectory(prefix="hasp-mutant-") as folder:
            program = self.make(Path(folder), lock, file, text)
            every = self.clients[entry_of(lock).kind]
            return self.explore(program, lock, states, clients or every)


def order(client: str) -> int:
    """Return the rank of a client among the first ones."""
    first = client in FIRST_CLIENTS
    return FIRST_CLIENTS.index(client) if first else len(FIRST_CLIENTS)


def overlaid(folder: Path, path: Path) -> Path:
    """Return the place of a source in the folder that replaces some."""
    return folder / path.relative_to(SOURCES)


def write(folder: Path, path: Path, text: str) -> None:
    """Write the text that replaces a source."""
    place = overlaid(folder, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def strip_outputs(words: list[str]) -> list[str]:
    """A compiler command without its input, outputs, dependency files and ccache."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-MQ", "-MF", "-o", "-c"):
            skip = True
        elif word != "-MD" and Path(word).name != "ccache":
            kept.append(word)
    return kept
