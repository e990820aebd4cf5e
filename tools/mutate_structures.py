#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weaken each memory order of src/structures and src/delegation in turn, and check it.

The model checker runs on each mutant. Prints one line for each: caught (and the client
that caught it), explained (the reason is in mutants.toml of the folder), or SURVIVED.
Exit status 1 if one survived without a reason. With --results, mutants of functions
that have not changed since they were recorded there are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutant_checker import strip_outputs
from mutants import ROOT, SOURCES, Mutant, digest, find_mutants
from mutate_locks import load, save

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

FOLDERS = (SOURCES / "structures", SOURCES / "delegation")
REASONS = [folder / "mutants.toml" for folder in FOLDERS]
RESULTS = {
    folder.name: ROOT / f"docs/data/mutants-{folder.name}.jsonl" for folder in FOLDERS
}
FINDING = 1  # exit status of hasp-explore
OPEN, USAGE = 1, 2  # of this tool
CRASH = "crash"
STATES = 300_000


@dataclass(frozen=True)
class Structure:
    """A folder or a file, and the clients that check it."""

    kind: str
    variants: tuple[str, ...]  # as in `hasp-explore --lock`


KINDS = {
    "channel": Structure("channel", ("spin", "park", "park-fenced")),
    "ring.h": Structure("ring", ("spin", "park", "park-fenced")),
    "shared_barrier.c": Structure("shared-barrier", ("spin", "park")),
    "shared_barrier.h": Structure("shared-barrier", ("spin", "park")),
    "waiting.h": Structure("channel", ("spin", "park", "park-fenced")),
    "map": Structure("map", ("map", "map-words")),
    "words.h": Structure("map", ("map-words",)),
    "transaction": Structure(
        "transaction", ("transaction", "messages", "messages-eager")
    ),
    "clients.c": Structure("transaction", ("messages", "messages-eager")),
    "services.c": Structure("transaction", ("messages", "messages-eager")),
    "adaptive.h": Structure("executor", ("adaptive",)),
    "call.c": Structure("executor", ("cc-synch", "dsm-synch")),
    "call.h": Structure(
        "executor", ("cc-synch", "cc-synch-spin", "dsm-synch", "oyama")
    ),
    "cc_synch.h": Structure("executor", ("cc-synch",)),
    "delegate.h": Structure("executor", ("rcl-moving",)),
    "dsm_synch.h": Structure("executor", ("dsm-synch",)),
    "ffwd.h": Structure("executor", ("ffwd",)),
    "flat_combining.h": Structure("executor", ("flat-combining",)),
    "h_synch.h": Structure("executor", ("h-synch",)),
    "lines.h": Structure("executor", ("flat-combining",)),
    "oyama.h": Structure("executor", ("oyama",)),
    "rcl.h": Structure("executor", ("rcl", "rcl-moving")),
    "rcl_moving.h": Structure("executor", ("rcl-moving",)),
    "server.h": Structure("executor", ("rcl", "ffwd")),
    "server_moves.c": Structure("executor", ("rcl-moving",)),
    "server_moves.h": Structure("executor", ("rcl-moving",)),
    "server_threads.c": Structure("executor", ("rcl", "ffwd")),
    "server_turn.h": Structure("executor", ("rcl", "ffwd")),
}
# Not compiled for the checked platform.
NATIVE_ONLY = {
    *("structures/channel/flags.c", "structures/map/threads.c"),
    *("structures/map/records.h", "structures/map/threads.h"),
    *("structures/map/public.c", "structures/transaction/public.c"),
    *("structures/map/read.h", "structures/map/servers.c", "structures/map/servers.h"),
}


@dataclass(frozen=True)
class Task:
    """A mutant of a file."""

    path: Path
    mutant: Mutant

    @property
    def structure(self) -> Structure:
        return next(
            KINDS[word] for word in reversed(words_of(self.path)) if word in KINDS
        )

    @property
    def digest(self) -> str:
        """The digest of the mutant's function."""
        return digest(self.mutant.within)


def words_of(path: Path) -> tuple[str, ...]:
    """The names by which a file can be chosen: its own, and its folders'."""
    return path.relative_to(SOURCES).parts


def all_tasks(chosen: list[str]) -> Iterator[Task]:
    """The mutants of the chosen folders or files; without a choice, all of them."""
    for path in sorted(path for folder in FOLDERS for path in folder.rglob("*.[ch]")):
        file, words = path.relative_to(SOURCES).as_posix(), {*words_of(path)}
        if file in NATIVE_ONLY:
            continue
        if words & KINDS.keys() and (not chosen or words & {*chosen}):
            for mutant in find_mutants(file, path.read_text(encoding="utf-8")):
                yield Task(path, mutant)


class Build:
    """The objects of hasp-explore in a build folder, which is up to date."""

    def __init__(self, build: Path) -> None:
        self.folder = build.resolve()
        text = (build / "compile_commands.json").read_text(encoding="utf-8")
        self.commands: dict[str, tuple[list[str], Path]] = {}  # by object
        parts = ("locks-checked", "explorer-clients", "explorer", "hasp-explore")
        for command in json.loads(text):
            output: str = command["output"]
            if Path(output).parent.name.split(".")[0].removeprefix("lib") in parts:
                source = (self.folder / command["file"]).resolve()
                words = strip_outputs(shlex.split(command["command"]))
                words = [word for word in words if Path(word).name != "ccache"]
                self.commands[output] = (words, source)
        self.files = self.read_files()

    def read_files(self) -> dict[str, set[Path]]:
        """Return the files of which each object is made, as the compiler found them."""
        done = self.run(["ninja", "-t", "deps", *self.commands])
        self.check(done)
        files: dict[str, set[Path]] = {}
        for paragraph in done.stdout.strip().split("\n\n"):
            output, *lines = paragraph.splitlines()
            paths = (os.path.normpath(self.folder / line.strip()) for line in lines)
            files[output.split(":")[0]] = {Path(path) for path in paths}
        return files

    def run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True)

    def make(self, folder: Path, task: Task) -> Path:
        """Build hasp-explore with the mutant in a folder of its own."""
        place = folder / task.path.relative_to(SOURCES)
        place.parent.mkdir(parents=True)
        place.write_text(task.mutant.apply(task.path.read_text(encoding="utf-8")))
        linked: list[str] = []
        for output, (words, source) in self.commands.items():
            if task.path in self.files[output]:
                given = place if source == task.path else source
                made = str(folder / f"{len(linked)}.o")
                flags = [f"-I{folder}", *words[1:], "-w", "-g0", "-o", made, "-c"]
                self.check(self.run([words[0], *flags, str(given)]))
                linked.append(made)
            else:
                linked.append(output)
        program = folder / "hasp-explore"
        self.check(self.run(["cc", "-o", str(program), *linked]))
        return program

    def check(self, done: subprocess.CompletedProcess[str]) -> None:
        if done.returncode:
            raise SystemExit(done.stderr)


@dataclass(frozen=True)
class Catch:
    """How a mutant was caught."""

    variant: str
    client: str
    verdict: str


def clients_of(build: Build, kind: str) -> list[str]:
    """Return the clients of a kind, those with the fewest threads first."""
    done = build.run(
        [str(build.folder / "src/explorer/hasp-explore"), "--list-clients"]
    )
    build.check(done)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    of_kind = [row for row in rows if row["kind"] == kind]
    return [row["client"] for row in sorted(of_kind, key=lambda row: row["threads"])]


def caught_by(build: Build, task: Task, only: Catch | None = None) -> Catch | None:
    """Return how the mutant is caught, if it is; `only` as it was caught before."""
    kind = task.structure.kind
    clients = [only.client] if only else clients_of(build, kind)
    with tempfile.TemporaryDirectory(prefix="hasp-mutant-") as folder:
        program = build.make(Path(folder), task)
        for variant in (only.variant,) if only else task.structure.variants:
            for client in clients:
                words = ["--kind", kind, "--lock", variant, "--client", client]
                limits = ["--states", str(STATES), "--time-limit", "60"]
                done = build.run([str(program), *words, "--quiet", *limits])
                verdict = verdict_of(done, task)
                if verdict != "ok":
                    return Catch(variant, client, verdict)
    return None


def verdict_of(done: subprocess.CompletedProcess[str], task: Task) -> str:
    """Return what the explorer says of a client; ok if it does not suit the variant."""
    if done.returncode < 0:
        return CRASH  # the mutant has used a pointer that it had not acquired
    if done.returncode not in (0, FINDING):
        raise SystemExit(
            f"{task.mutant.key}: hasp-explore ended with status "
            f"{done.returncode}; that is neither a catch nor a survivor"
        )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    verdicts: list[str] = [row["verdict"] for row in rows]
    return verdicts[0] if verdicts else "ok"


def row_of(task: Task, catch: Catch | None) -> dict[str, Any]:
    """Return the record of a mutant's verdict."""
    found = vars(catch) if catch else {}
    outcome = "caught" if catch else "survived"
    return {"key": task.mutant.key, "digest": task.digest, "outcome": outcome, **found}


def catch_of(row: dict[str, Any]) -> Catch | None:
    """Return what row_of() was made of."""
    if row["outcome"] != "caught":
        return None
    return Catch(row["variant"], row["client"], row["verdict"])


def reasons() -> dict[str, str]:
    """Return the reasons why mutants survive, by their keys."""
    texts = (path.read_text(encoding="utf-8") for path in REASONS if path.exists())
    rows = [row for text in texts for row in tomllib.loads(text).get("survivor", [])]
    return {key: row["reason"] for row in rows for key in row["mutants"]}


def print_verdict(key: str, catch: Catch | None, explained: bool) -> None:
    if catch:
        how = f"{catch.variant}, {catch.client}: {catch.verdict}"
        print(f"caught     {key}  ({how})", flush=True)
    else:
        print(f"explained  {key}" if explained else f"SURVIVED   {key}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("chosen", nargs="*", metavar="FOLDER|FILE")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--every", type=int, default=1, help="run each Nth mutant (1)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--build", type=Path, metavar="FOLDER")
    parser.add_argument("--results", type=Path, metavar="FILE")
    options = parser.parse_args()
    tasks = list(all_tasks(options.chosen))[:: options.every]
    if not tasks:
        print(f"no mutants of {' '.join(options.chosen)}", file=sys.stderr)
        return USAGE
    if options.list:
        print("\n".join(task.mutant.key for task in tasks))
        return 0
    os.nice(5)
    build = Build(
        options.build or Path(os.environ.get("HASP_NATIVE_DIR", ROOT / "build"))
    )
    known, left = reasons(), 0
    rows = load(options.results) if options.results else {}

    def run(task: Task) -> Catch | None:
        row = rows.get(task.mutant.key)
        if row and row["digest"] == task.digest:
            return catch_of(row)
        return caught_by(build, task)

    with ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(run, task): task for task in tasks}
        for done in as_completed(running):
            task, catch = running[done], done.result()
            key = task.mutant.key
            rows[key] = row_of(task, catch)
            if options.results:
                save(options.results, rows)
            left += not catch and key not in known
            print_verdict(key, catch, key in known)
    return OPEN if left else 0


if __name__ == "__main__":
    sys.exit(main())
