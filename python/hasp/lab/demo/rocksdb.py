# SPDX-License-Identifier: MIT
"""RocksDB's own benchmark as a workload: how it is filled, run and read.

With one cache shard, each lookup of a block takes one global mutex, twice; many threads
looking up blocks that are all in the cache do little else. This is the textbook case
of a lock that decides the throughput of a real program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from hasp.base.errors import HaspError

PROGRAM = "db_bench"
ENTRIES = 200_000
CACHE_BYTES = 64 << 20
BLOCK_BYTES = 1024  # small blocks: little work besides the lookup
FILL_LIMIT = 120  # seconds; it takes less than one on a fast machine

THROUGHPUT = r"throughput=readrandom *:.* (\d+) ops/sec"
TAIL_LATENCY = r"P99=P99: ([\d.]+)"


def find() -> str:
    """The path of db_bench, or how to get it."""
    path = shutil.which(PROGRAM)
    if path is None:
        raise HaspError(
            f"{PROGRAM}, the benchmark that comes with RocksDB, is not installed",
            "apt-get install rocksdb-tools (Debian, Ubuntu), then try again; "
            "`make demo` as root does so itself",
        )
    return path


def memory_folder() -> Path | None:
    """A folder in memory with room for the database, so that no disk is measured."""
    shared_memory = Path("/dev/shm")
    if not os.access(shared_memory, os.W_OK):
        return None
    roomy = shutil.disk_usage(shared_memory).free > 256 << 20
    return shared_memory if roomy else None


def fill_command(database: Path) -> list[str]:
    """Writes the database once, natively."""
    return [
        PROGRAM,
        "--benchmarks=fillrandom,compact",
        f"--db={database}",
        f"--num={ENTRIES}",
        f"--block_size={BLOCK_BYTES}",
        "--disable_wal=1",
        "--seed=1",
        "--progress_reports=0",
    ]


def read_command(database: Path, seconds: int) -> list[str]:
    """Reads random keys for a time, and prints throughput and percentiles.

    It looks at the clock after each read: the default, after a thousand, would let the
    threads of a collapsed lock run on for minutes. What matters most stands first,
    because pictures show the beginning of a command.
    """
    return [
        PROGRAM,
        "--benchmarks=readrandom",
        "--threads={threads}",
        "--cache_numshardbits=0",
        f"--cache_size={CACHE_BYTES}",
        f"--duration={seconds}",
        "--ops_between_duration_checks=1",
        f"--db={database}",
        f"--num={ENTRIES}",
        "--use_existing_db=1",
        "--readonly=1",
        "--histogram=1",
        "--progress_reports=0",
    ]


def fill(database: Path) -> None:
    """Fill the database, or say why that failed."""
    try:
        finished = subprocess.run(
            fill_command(database),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=FILL_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise HaspError(
            f"{PROGRAM} did not fill its database within {FILL_LIMIT} s",
            "see whether the machine is busy (`uptime`), then try again",
        ) from None
    if finished.returncode != 0:
        raise HaspError(
            f"{PROGRAM} could not fill its database (status {finished.returncode}):\n"
            + finished.stdout[-600:].rstrip(),
            "see whether it runs by itself: db_bench --benchmarks=fillrandom "
            "--num=1000 --db=/tmp/try",
        )
