# SPDX-License-Identifier: MIT
"""RocksDB's own benchmark as a workload: its database, command and metrics.

With one cache shard, every block lookup acquires one global mutex twice, and threads
that find all blocks in the cache do little else: a textbook case of a lock that limits
a real program's throughput.
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
BLOCK_BYTES = 1024  # small blocks, so that lookups dominate
FILL_LIMIT = 120  # seconds; it takes less than one on a fast machine

THROUGHPUT = r"throughput=readrandom *:.* (\d+) ops/sec"
TAIL_LATENCY = r"P99=P99: ([\d.]+)"


def find() -> str:
    """Return the path of db_bench; raise HaspError if it is not installed."""
    path = shutil.which(PROGRAM)
    if path is None:
        raise HaspError(
            f"{PROGRAM}, RocksDB's benchmark, is not installed",
            "apt-get install rocksdb-tools (Debian, Ubuntu), then try again; "
            "`make demo` as root installs it",
        )
    return path


def memory_folder() -> Path | None:
    """Return a folder in memory with space for the database, or None."""
    shared_memory = Path("/dev/shm")
    if not os.access(shared_memory, os.W_OK):
        return None
    roomy = shutil.disk_usage(shared_memory).free > 256 << 20
    return shared_memory if roomy else None


def fill_command(database: Path) -> list[str]:
    """Return the command that writes the database once, under glibc."""
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
    """Return the command that reads random keys and prints throughput and percentiles.

    It checks the clock after each read; with the default of a thousand reads, threads
    of a collapsed lock would run on for minutes. The most important options come first,
    because figures show only the beginning of a command.
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
    """Fill the database; raise HaspError if that fails."""
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
            "check whether the machine is busy (`uptime`), then try again",
        ) from None
    if finished.returncode != 0:
        raise HaspError(
            f"{PROGRAM} could not fill its database (status {finished.returncode}):\n"
            + finished.stdout[-600:].rstrip(),
            "check that it runs by itself: db_bench --benchmarks=fillrandom "
            "--num=1000 --db=/tmp/try",
        )
