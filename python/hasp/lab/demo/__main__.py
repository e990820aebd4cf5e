# SPDX-License-Identifier: MIT
"""The demonstration: profiles RocksDB, then finds the best lock for it."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.base.errors import EXIT_FINE, HaspError, Interrupted
from hasp.base.output import complain, note
from hasp.base.signals import interrupt_on_signals
from hasp.lab.demo import rocksdb
from hasp.lab.demo.command import hasp
from hasp.lab.demo.recording import record
from hasp.locks import native
from hasp.locks.selection import select

# A few locks of each family. All of them need a longer budget.
LOCKS = (
    *("glibc", "ttas-backoff", "mutexee", "spinbit", "futex"),
    *("ticket", "mcs-park", "c-bo-mcs-park", "cna"),
    *("malthusian-park", "u-scl", "glk"),
)

KINDS = {
    "png": "the picture",
    "md": "the table and the result, as Markdown",
    "jsonl": "every run, for `hasp compare --from` and `hasp tune --resume`",
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
    budget: int
    seconds: int

    def file(self, ending: str) -> Path:
        """Return the path of a file in the results folder."""
        return self.results / f"demo.{ending}"


def parse(words: Sequence[str]) -> Options:
    """Parse the options; the default demonstration takes about a minute."""
    parser = argparse.ArgumentParser(
        prog="python -m hasp.lab.demo",
        description="RocksDB: which lock hurts, and which serves it best.",
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
        "--budget",
        type=int,
        default=45,
        metavar="SECONDS",
        help="duration of the race (default: 45)",
    )
    parser.add_argument(
        "--seconds",
        type=int,
        default=1,
        metavar="N",
        help="duration of a run (default: 1)",
    )
    options = Options(**vars(parser.parse_args(words)))
    if min(options.threads, options.budget, options.seconds) < 1:
        parser.error("threads, budget and seconds must be at least 1")
    return options


def tune_options(options: Options) -> list[tuple[str, ...]]:
    """Return the options of `hasp tune`, grouped as they are printed."""
    return [
        ("--trace", str(options.file("trace")), "--budget", f"{options.budget}s"),
        ("--locks", options.locks, "--threads", str(options.threads)),
        ("--metric", rocksdb.THROUGHPUT, "--unit", "ops/s"),
        ("--metric", rocksdb.TAIL_LATENCY, "--unit", "us", "--lower-is-better"),
        ("--store", str(options.file("jsonl")), "--markdown", str(options.file("md"))),
        ("--plot", str(options.file("png"))),
    ]


def show_command(groups: Sequence[tuple[str, ...]], command: Sequence[str]) -> str:
    """Return the command line as one would type it, a group per line."""
    lines = ["  hasp tune"]
    lines += [f"    {shlex.join(group)}" for group in groups]
    line = "    --"
    for word in map(shlex.quote, command):
        if len(line) + len(word) > 80:
            lines.append(line)
            line = "       "
        line += f" {word}"
    return " \\\n".join([*lines, line])


def introduce(options: Options, line: str) -> None:
    """Print what is about to run, and how long it takes."""
    count = len({lock.name for lock in select(options.locks)} | {native.REFERENCE})
    print(
        f"\n2. Which of {count} locks serves it best?\n\n{line}\n\n"
        f"This takes {options.budget} s, or less if the best is known earlier.\n",
        flush=True,
    )


def conclude(options: Options) -> None:
    """Print where the results are, and what to try next."""
    if options.save_picture is not None and options.file("png").exists():
        options.save_picture.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(options.file("png"), options.save_picture)
        shutil.copyfile(options.file("md"), options.save_picture.with_suffix(".md"))
    print("\nResults:")
    for ending, what in KINDS.items():
        if options.file(ending).exists():
            print(f"  {options.file(ending)!s:27} {what}")
    print("""
Your own program:
  make setup && . .venv/bin/activate     installs the `hasp` command
  hasp profile -- YOUR-PROGRAM ARGUMENTS     which lock hurts, and why
  hasp tune -- YOUR-PROGRAM ARGUMENTS        which lock serves it best
  docs/guide.md                          how to choose what to measure
""")


def demonstrate(options: Options) -> int:
    """Fill the database, profile, race, and always remove the database."""
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
        groups = tune_options(options)
        note(f"filling the database with {program}")
        rocksdb.fill(database)
        threads = str(options.threads)
        once = [word.replace("{threads}", threads) for word in command]
        cpus = len(os.sched_getaffinity(0))
        print(
            f"RocksDB's db_bench reads random keys from a cache behind one mutex, with "
            f"{threads} threads\non {cpus} CPU{'s' if cpus != 1 else ''}.\n",
            flush=True,
        )
        if not record(options.file("trace"), options.file("html"), once):
            raise HaspError(
                "the recorded run failed", "look at its output above, then try again"
            )
        introduce(options, show_command(groups, command))
        words = [word for group in groups for word in group]
        status = hasp(["tune", *words, "--", *command])
    if status == EXIT_FINE:
        conclude(options)
    return status


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
