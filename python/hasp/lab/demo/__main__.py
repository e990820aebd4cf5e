# SPDX-License-Identifier: MIT
"""The demonstration: profiles RocksDB, then compares locks on it."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.base import output
from hasp.base.errors import EXIT_FINDING, EXIT_FINE, HaspError, Interrupted
from hasp.base.output import complain, note
from hasp.base.signals import interrupt_on_signals
from hasp.lab.demo import rocksdb
from hasp.lab.demo.command import hasp
from hasp.lab.demo.recording import record
from hasp.locks import native
from hasp.locks.selection import select

TIMEOUT = 30  # seconds per run: many times what a working lock needs
RUN_OVERHEAD = 0.3  # seconds of a run in addition to the reads

# A few locks of each family; all of them would take a quarter of an hour.
LOCKS = (
    *("glibc", "ttas", "mutexee", "spinbit", "futex"),
    *("ticket", "mcs", "mcs-park"),
    *("c-bo-mcs-park", "cna", "malthusian-park", "u-scl"),
)

KINDS = {
    "png": "the picture",
    "md": "the tables, as Markdown",
    "csv": "every run, for a spreadsheet",
    "jsonl": "every run, with a description of the host",
    "html": "the profile as a page: open it in a browser",
    "trace": "the profile, for `hasp report` and `hasp advise`",
}


@dataclass(frozen=True)
class Options:
    """The options of the demonstration."""

    results: Path
    save_picture: Path | None
    locks: str
    threads: int
    runs: int
    seconds: int

    def file(self, ending: str) -> Path:
        """Return the path of a file in the results folder."""
        return self.results / f"demo.{ending}"


def parse(words: Sequence[str]) -> Options:
    """Parse the options; the default demonstration takes about four minutes."""
    parser = argparse.ArgumentParser(
        prog="python -m hasp.lab.demo",
        description="RocksDB under a dozen locks: a table and a picture in minutes.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("demo-results"),
        metavar="FOLDER",
        help="folder for the table, picture and raw runs (default: %(default)s)",
    )
    parser.add_argument(
        "--save-picture",
        type=Path,
        metavar="FILE",
        help="also copy the picture here, and the table beside it",
    )
    parser.add_argument(
        "--locks",
        default=",".join(lock.name for lock in native.locks() if lock.name in LOCKS),
        metavar="LIST",
        help="as in `hasp compare` (default: some of each family; `all` takes longer)",
    )
    parser.add_argument(
        "--threads", type=int, default=32, metavar="N", help="default: 32"
    )
    parser.add_argument(
        "--runs", type=int, default=7, metavar="N", help="runs per lock (default: 7)"
    )
    parser.add_argument(
        "--seconds",
        type=int,
        default=2,
        metavar="N",
        help="duration of a run (default: 2)",
    )
    options = Options(**vars(parser.parse_args(words)))
    if min(options.threads, options.runs, options.seconds) < 1:
        parser.error("threads, runs and seconds must be at least 1")
    return options


def compare_options(options: Options) -> list[tuple[str, ...]]:
    """Return the options of `hasp compare`, grouped as they are printed."""
    return [
        ("--locks", options.locks, "--threads", str(options.threads)),
        ("--runs", str(options.runs), "--timeout", f"{TIMEOUT}s"),
        ("--metric", rocksdb.THROUGHPUT, "--unit", "ops/s"),
        ("--metric", rocksdb.TAIL_LATENCY, "--unit", "us", "--lower-is-better"),
        ("--json", str(options.file("jsonl")), "--csv", str(options.file("csv"))),
        ("--markdown", str(options.file("md")), "--plot", str(options.file("png"))),
    ]


def show_command(groups: Sequence[tuple[str, ...]], command: Sequence[str]) -> str:
    """Return the command line as one would type it, a group per line."""
    lines = ["hasp compare"]
    lines += [f"    {shlex.join(group)}" for group in groups]
    line = "    --"
    for word in map(shlex.quote, command):
        if len(line) + len(word) > 80:
            lines.append(line)
            line = "       "
        line += f" {word}"
    return " \\\n".join([*lines, line])


def introduce(options: Options, groups: Sequence[tuple[str, ...]], line: str) -> None:
    """Print what is about to run, and how long it takes."""
    cpus = len(os.sched_getaffinity(0))
    count = len({lock.name for lock in select(options.locks)} | {native.REFERENCE})
    rounds = options.runs + 1  # plus a warm-up
    minutes = count * rounds * (options.seconds + RUN_OVERHEAD) / 60
    print(
        f"RocksDB's db_bench reads random keys from a cache behind one mutex, with\n"
        f"{options.threads} threads on {cpus} CPU{'s' if cpus != 1 else ''}. Hasp "
        f"replaces that mutex by each of {count} locks: {rounds} rounds\nin random "
        f"order, about {max(1, round(minutes))} min.\n\n"
        f"The command:\n\n{line}\n",
        flush=True,
    )


def shown(installed: Path) -> str:
    """Return the path of the command as typed from the current folder."""
    if not installed.exists():
        return "hasp"
    here = Path.cwd()
    inside = installed.is_relative_to(here)
    return str(installed.relative_to(here) if inside else installed)


def conclude(options: Options, status: int) -> None:
    """Print where the results are, how to read them, and what to try next."""
    if options.save_picture is not None and options.file("png").exists():
        options.save_picture.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(options.file("png"), options.save_picture)
        shutil.copyfile(options.file("md"), options.save_picture.with_suffix(".md"))
    print("\nResults:")
    for ending, what in KINDS.items():
        if options.file(ending).exists():
            print(f"  {options.file(ending)!s:27} {what}")
    chosen = select(options.locks)
    collapsing = [lock.name for lock in chosen if lock.collapses]
    queues = [lock.name for lock in chosen if lock.fifo and lock.parks]
    command = shown(Path(sys.executable).with_name("hasp"))
    reading = textwrap.fill(
        "How to read it: a ratio above 1 is better than glibc for throughput and worse "
        "for P99. The intervals hold for all locks together; one that contains 1 "
        "means `cannot tell`, and the line `power` says which difference these runs "
        "find. Locks that "
        f"only spin ({names(collapsing)}) may collapse when threads outnumber CPUs, as "
        "published: waiters use the CPU time that the holder needs. Strict queues "
        f"that park ({names(queues)}) pay a context switch for every handover. These "
        "are results, not errors.",
        output.COLUMNS,
    )
    print(f"""
{reading}

Next steps:
  {command} list                         all locks, with their properties and limits
  {command} advise -- YOUR-PROGRAM ARGUMENTS     which lock hurts, and what to do
  {command} run --lock mcs-park -- YOUR-PROGRAM ARGUMENTS
  {command} compare -- YOUR-PROGRAM ARGUMENTS
  docs/guide.md                          how to choose what to measure
""")
    if status == EXIT_FINDING:
        note("some locks failed or collapsed: see their rows")


def names(locks: Sequence[str]) -> str:
    """Return names joined for a sentence."""
    return ", ".join(locks) or "none here"


def demonstrate(options: Options) -> int:
    """Fill the database, profile, compare, and always remove the database."""
    program = rocksdb.find()
    try:
        options.results.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise HaspError(
            f"cannot create {options.results}: {problem.strerror}",
            "choose another folder with --results FOLDER",
        ) from None
    memory = rocksdb.memory_folder()
    with tempfile.TemporaryDirectory(
        prefix=f"hasp-demo-{os.getpid()}-", dir=memory, ignore_cleanup_errors=True
    ) as scratch:
        database = Path(scratch) / "rocksdb"
        command = rocksdb.read_command(database, options.seconds)
        groups = compare_options(options)
        note(f"filling the database with {program}")
        rocksdb.fill(database)
        threads = str(options.threads)
        once = [word.replace("{threads}", threads) for word in command]
        record(options.file("trace"), options.file("html"), once)
        introduce(options, groups, show_command(groups, command))
        began = time.monotonic()
        words = [word for group in groups for word in group]
        status = hasp(["compare", *words, "--", *command])
    if status not in (EXIT_FINE, EXIT_FINDING):
        return status
    note(f"compared in {time.monotonic() - began:.0f} s")
    conclude(options, status)
    return EXIT_FINE


def main() -> int:
    """Run the demonstration; return the exit status."""
    interrupt_on_signals()
    try:
        return demonstrate(parse(sys.argv[1:]))
    except HaspError as error:
        complain(error)
        return 2
    except Interrupted as interruption:
        note("interrupted; the results so far are in the results folder")
        return interruption.exit_status


if __name__ == "__main__":
    sys.exit(main())
