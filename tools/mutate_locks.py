#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the mutation score of the locks' checks.

In each mutant of a lock, one memory order is weakened or one wake-up is dropped. Each
mutant is compiled for the checked platform and run under the explorer's clients. It
survives if no client catches it; survivors need a reason in mutants.toml, beside the
list of the lock.
docs/mutation.md is made from the results (--table).

Results are kept in docs/data/mutants.jsonl, one line for each mutant; a mutant is run
again if its function has changed, or with --again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from mutant_checker import BuildError, Checker, Verdict
from mutants import (
    LISTS,
    OVER_MUTEX,
    ROOT,
    Mutant,
    digest,
    entries,
    entry_of,
    file_of,
    find_mutants,
    includes_of,
)
from mutation_table import Reasons, read_reasons, write_table

RESULTS = ROOT / "docs/data/mutants.jsonl"

# The locks under which the mutants of a shared file are run, one of each kind. Other
# files are run under the locks that the list has for them.
SHARED = {
    "algorithms/barging.h": ["mutexee", "malthusian-park", "spinbit"],
    "algorithms/cna.h": ["cna", "fissile", "shfl"],
    "algorithms/mcs_nodeless.h": ["glk"],
    "algorithms/latch.h": ["spinlock", "fissile", "hbo"],
    "algorithms/tickets.h": ["ticket", "ticket-backoff", "partitioned", "c-tkt-tkt"],
    "waiting/policies.h": ["mcs-park", "mutexee", "clh-park", "reciprocating"],
    "memory/fork_repair.h": ["mcs", "mutexee", "ticket"],
    "memory/side_memory.c": ["c-bo-mcs", "partitioned", "hmcs"],
    "list/lock_entries.h": ["ttas", "futex", "mcs-park"],
    "list/lock_operations.h": ["ttas", "futex", "mcs-park"],
    "algorithms/gcr.h": ["gcr+ttas", "gcr+mcs"],
    "algorithms/gcr.c": ["gcr+hapax"],
    "rwlocks/algorithms/bravo.h": ["bravo+rw-ttas"],
    "rwlocks/algorithms/bravo.c": ["bravo+rw-ttas"],
    "rwlocks/read_holds.h": ["bravo+rw-ttas"],
    "rwlocks/read_holds.c": ["bravo+rw-ttas"],
    "rwlocks/fork_repair.h": ["rw-ttas", "rw-futex"],
    "rwlocks/list/rwlock_operations.h": ["rw-ttas", "bravo+rw-ttas"],
    "rwlocks/algorithms/inner_mutex.h": ["mutex:ttas", "c-rw-wp"],
    "rwlocks/algorithms/rw_mutex.h": ["mutex:ttas", "mutex:mcs-park"],
    "rwlocks/algorithms/thin_form.h": ["mutex:ttas", "mutex:mcs-park", "c-rw-wp"],
    "barriers/block.c": ["barrier:central"],
}
# Files that are not compiled for the checked platform, which has its own pool.
NATIVE_ONLY = {"memory/pool.c", "memory/pool.h"}
REPRESENTATIVES = 3

# Limit of states in the first pass over the clients, which catches most mutants.
QUICK = 10_000
# Limit of states for each unchanged lock.
BASELINE = 3_000

FINDING, USAGE = 1, 2


@dataclass(frozen=True)
class Task:
    """A mutant, and the locks under which it is run."""

    mutant: Mutant
    text: str  # of the unchanged file
    locks: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The digest of its function. The tests detect effects of other changes."""
        return digest(self.mutant.within)


def locks_of(file: str) -> tuple[str, ...]:
    """Return the locks under which the mutants of a file are run."""
    listed = entries()
    labels = {entry.label for entry in listed}
    if file in SHARED:
        plain = {n: n.rpartition("+")[2].removeprefix(OVER_MUTEX) for n in SHARED[file]}
        return tuple(name for name in plain if plain[name] in labels)
    header = file.removesuffix(".c") + ".h" if file.endswith(".c") else file
    own = [entry.label for entry in listed if entry.header == header]
    users = [entry.label for entry in listed if header in includes_of(entry.header)]
    return tuple(own or users[:REPRESENTATIVES])


def may_park(lock: str) -> bool:
    """Return true if its waiters may sleep, as those of all wrapped locks do."""
    return "+" in lock or lock.startswith(OVER_MUTEX) or entry_of(lock).parks


def all_tasks(chosen: list[str]) -> list[Task]:
    """The mutants of the chosen files or locks; without a choice, all of them."""
    tasks = []
    sources = [path for at in LISTS.values() for path in at.parent.rglob("*.[ch]")]
    for path in sorted(sources):
        file = file_of(path)
        if file in NATIVE_ONLY:
            continue
        text = path.read_text(encoding="utf-8")
        mutants = find_mutants(file, text)
        locks = locks_of(file) if mutants else ()
        if chosen and not {file, path.name, path.stem} & {*chosen}:
            locks = tuple(name for name in locks if name in chosen)
        if not locks:
            continue
        parking = tuple(name for name in locks if may_park(name))
        tasks += [
            Task(mutant, text, parking or locks if mutant.wakes else locks)
            for mutant in mutants
        ]
    return tasks


@cache
def refuses_unchanged(checker: Checker, lock: str, client: str, states: int) -> bool:
    """Return true if the client finds an error in the lock without a mutant, too."""
    return bool(checker.check(lock, "", "", states, [client]).caught_by)


def run(checker: Checker, task: Task, limits: list[int]) -> dict[str, Any]:
    """Run a mutant under its locks until a client catches it; returns a result row."""
    row: dict[str, Any] = {
        "schema": "hasp.mutant/1",
        "key": task.mutant.key,
        "file": task.mutant.file,
        "function": task.mutant.function,
        "operation": task.mutant.operation,
        "weakened": task.mutant.weakened,
        "line": task.mutant.line,
        "digest": task.digest,
        "locks": list(task.locks),
        "outcome": "survived",
        "bounds": {},
        "seconds": 0.0,
    }
    if not task.locks:
        return {**row, "outcome": "error", "detail": "the unchanged lock is refused"}
    for states, lock in product(
        limits, task.locks
    ):  # a quick pass over all locks first
        try:
            said = checker.check(
                lock, task.mutant.file, task.mutant.apply(task.text), states
            )
            row["seconds"] = round(row["seconds"] + said.seconds, 3)
            row["bounds"][lock] = said.bounds
            caught_by = said.caught_by
            refused = caught_by and refuses_unchanged(checker, lock, caught_by, states)
        except BuildError as error:
            return {**row, "outcome": "error", "detail": str(error)[-500:]}
        if refused:
            detail = f"client {said.caught_by} refuses the unchanged {lock}, too"
            return {**row, "outcome": "error", "detail": detail}
        if said.caught_by:
            found = {"verdict": said.verdict, "detail": said.detail}
            row.pop("bounds")
            return {
                **row,
                "outcome": "caught",
                "lock": lock,
                "client": said.caught_by,
                **found,
            }
    return row


def load(path: Path) -> dict[str, dict[str, Any]]:
    """Return the results by the key of their mutant."""
    if not path.exists():
        return {}
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {row["key"]: row for row in rows}


def save(path: Path, rows: dict[str, dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(rows[key]) for key in sorted(rows)]
    unfinished = path.with_suffix(".new")
    unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    unfinished.replace(path)


def check_unchanged(checker: Checker, lock: str) -> Verdict:
    """Return the verdict on the lock; a check that does not end refuses it, too."""
    try:
        return checker.check(lock, "", "", BASELINE)
    except BuildError as error:
        return Verdict(caught_by="none", verdict="no verdict", detail=str(error))


def baseline(checker: Checker, tasks: list[Task], jobs: int) -> set[str]:
    """Find locks that fail unchanged; their mutants would prove nothing."""
    refused = set[str]()
    names = sorted({lock for task in tasks for lock in task.locks})
    with ThreadPoolExecutor(jobs) as pool:
        said = pool.map(lambda lock: check_unchanged(checker, lock), names)
        for lock, verdict in zip(names, said, strict=True):
            if verdict.caught_by:
                refused.add(lock)
                print(
                    f"the unchanged {lock} is refused by client {verdict.caught_by}:"
                    f" {verdict.verdict}: {verdict.detail}",
                    file=sys.stderr,
                )
    return refused


def describe(row: dict[str, Any], reasons: Reasons) -> str:
    if row["outcome"] == "caught":
        how = f"{row['lock']}, {row['client']}: {row['verdict']}"
        return f"caught    {row['key']}  ({how})"
    reason = " (justified)" if reasons.reason(row["key"]) else ""
    return f"{row['outcome'].upper()}{reason}  {row['key']}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add(
        "chosen",
        nargs="*",
        metavar="LOCK|FILE",
        help="locks, or files of src/locks or src",
    )
    add("--list", action="store_true", help="only list the mutants")
    add("--sample", type=int, metavar="N", help="run N mutants, chosen at random")
    add("--seed", type=int, default=1, help="seed of the sample (1)")
    add("--jobs", type=int, default=2, metavar="N", help="run N mutants at a time (2)")
    add(
        "--states",
        type=int,
        default=1_000_000,
        metavar="N",
        help="explore N states per client after the quick pass (1000000)",
    )
    add("--build", type=Path, metavar="FOLDER", help="the Meson build folder (build)")
    add(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="FILE",
        help="the file of results",
    )
    add("--again", action="store_true", help="also run mutants that have a result")
    add(
        "--survivors",
        action="store_true",
        help="rerun mutants that survived without a reason",
    )
    add("--json", action="store_true", help="print the results as JSON lines")
    add("--table", action="store_true", help="run nothing; write docs/mutation.md")
    return parser.parse_args()


def due(
    tasks: list[Task],
    known: dict[str, dict[str, Any]],
    reasons: Reasons,
    options: argparse.Namespace,
) -> list[Task]:
    """Return the tasks that have no result yet or must be run again."""

    def is_due(task: Task) -> bool:
        row = known.get(task.mutant.key)
        if options.again or not row or row["digest"] != task.digest:
            return True
        unexplained = row["outcome"] == "survived" and not reasons.reason(row["key"])
        return row["outcome"] == "error" or (options.survivors and unexplained)

    wanted = [task for task in tasks if is_due(task)]
    if options.sample is not None:
        random.Random(options.seed).shuffle(wanted)
        wanted = wanted[: options.sample]
    return wanted


def run_all(options: argparse.Namespace, tasks: list[Task]) -> list[dict[str, Any]]:
    """Run the pending tasks. Each result is saved immediately, so Ctrl-C loses none."""
    known = load(options.results)
    reasons = read_reasons()
    tasks = [task for task in tasks if not reasons.rule(task.mutant.key)]
    wanted = due(tasks, known, reasons, options)
    limits = sorted({min(QUICK, options.states), options.states})
    checker = Checker(
        options.build or Path(os.environ.get("HASP_NATIVE_DIR", ROOT / "build"))
    )
    refused = baseline(checker, wanted, options.jobs)
    wanted = [
        replace(task, locks=tuple(name for name in task.locks if name not in refused))
        for task in wanted
    ]
    done = []
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            running = [
                # A long search is useless for a mutant with a reason to survive.
                pool.submit(
                    run,
                    checker,
                    task,
                    limits[: 1 if reasons.reason(task.mutant.key) else 2],
                )
                for task in wanted
            ]
            for finished in as_completed(running):
                row = finished.result()
                done.append(row)
                known[row["key"]] = row
                save(options.results, known)
                if options.json:
                    print(json.dumps(row), flush=True)
                else:
                    number = f"[{len(done)}/{len(wanted)}]"
                    print(number, describe(row, reasons), flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print("interrupted; all results so far are saved", file=sys.stderr)
    return done


def main() -> int:
    options = parse()
    os.nice(5)
    tasks = all_tasks(options.chosen)
    if not tasks:
        print(f"no mutants of {' '.join(options.chosen)}", file=sys.stderr)
        return USAGE
    if options.table:
        keys = {task.mutant.key: task.digest for task in tasks}
        return write_table(load(options.results), keys)
    if options.list:
        for task in tasks:
            print(f"{task.mutant.key}  ({', '.join(task.locks)})")
        return 0
    done = run_all(options, tasks)
    reasons = read_reasons()
    left = [
        row
        for row in done
        if row["outcome"] != "caught" and not reasons.reason(row["key"])
    ]
    caught = sum(row["outcome"] == "caught" for row in done)
    print(
        f"{len(done)} run: {caught} caught, {len(done) - caught - len(left)} survive"
        f" for a known reason, {len(left)} survive without one",
        file=sys.stderr,
    )
    return FINDING if left else 0


if __name__ == "__main__":
    sys.exit(main())
