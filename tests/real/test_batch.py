# SPDX-License-Identifier: MIT
"""Runs programs that end and print verifiable results under every lock."""

from __future__ import annotations

import filecmp
import json
import random
import re
from functools import cache
from pathlib import Path

import pytest
from real.programs import Launcher, Lock, every_third_lock, need, quick_locks

FOUND = re.compile(r"readrandom +:.*\((\d+) of (\d+) found\)")


def number(pattern: str, text: str) -> float:
    """Return the single number that `pattern` captures in a program's output."""
    match = re.search(pattern, text)
    assert match is not None, f"no {pattern!r} in:\n{text[-3000:]}"
    return float(match.group(1))


@quick_locks()
def test_sysbench_threads(launch: Launcher, lock: Lock) -> None:
    """A single lock is nearly always contended, and its holder yields the CPU."""
    threads = lock.threads(8)
    result = launch.run(
        need("sysbench", "sysbench"),
        "threads",
        "--thread-locks=1",
        "--thread-yields=10",
        f"--threads={threads}",
        "--time=1",
        "run",
    )
    assert number(r"total number of events: +(\d+)", result.stdout) > 0


@every_third_lock(0)
def test_sysbench_mutex(launch: Launcher, lock: Lock) -> None:
    """A fixed amount of work uses many locks and acquisitions."""
    threads = lock.threads(8)
    result = launch.run(
        need("sysbench", "sysbench"),
        "mutex",
        "--mutex-num=64",
        "--mutex-locks=20000",
        "--mutex-loops=10",
        f"--threads={threads}",
        "run",
    )
    events = number(r"total number of events: +(\d+)", result.stdout)
    assert events == threads


@cache
def expected_found(threads: int) -> dict[int, str]:
    """Return the result of the first run with this many threads."""
    return {}


def db_bench(launch: Launcher, threads: int, entries: int, reads: int) -> str:
    """Fills and reads a RocksDB; the seed makes keys and results reproducible."""
    program = need("db_bench", "rocksdb-tools")
    result = launch.run(
        program,
        "--benchmarks=fillrandom,readrandom",
        f"--db={launch.folder / 'db'}",
        f"--num={entries}",
        f"--reads={reads}",
        f"--threads={threads}",
        "--seed=7",
        "--disable_wal=1",
        "--progress_reports=0",
        "--cache_size=8388608",
        "--cache_numshardbits=0",
    )
    match = FOUND.search(result.text)
    assert match is not None, result.text[-3000:]
    found, asked = int(match.group(1)), int(match.group(2))
    assert asked == reads
    assert found > reads // 2
    # A new process without Hasp must find all entries that were written.
    scan = launch.run(
        program,
        "--benchmarks=readseq",
        f"--db={launch.folder / 'db'}",
        "--use_existing_db=1",
        f"--num={entries * threads}",
        "--progress_reports=0",
        interposed=False,
    )
    kept = number(r"readseq +:.* (\d+) operations", scan.text)
    return f"{found} of {asked} found, {kept:.0f} kept"


@every_third_lock(1)
def test_db_bench(launch: Launcher, lock: Lock) -> None:
    """RocksDB with one cache shard: condition variables, then one hot mutex."""
    threads = lock.threads(4)
    known = expected_found(threads)
    outcome = db_bench(launch, threads, entries=4000, reads=2000)
    assert known.setdefault(0, outcome) == outcome


@quick_locks()
def test_sqlite(launch: Launcher, lock: Lock, build_dir: Path) -> None:
    """32 threads share one connection, and therefore one recursive mutex.

    Spinning locks get 32 threads, too: the driver runs for a fixed time, in which a
    lock that collapses does little work. It checks sums, rows, updates and integrity.
    """
    driver = build_dir / "tests" / "real" / "sqlite_driver"
    if not driver.exists():
        pytest.skip("sqlite_driver was not built: apt-get install libsqlite3-dev")
    result = launch.run(driver, launch.folder / "items.db", 32, 400)
    report = json.loads(result.stdout)
    assert report["threads"] == 32
    assert report["operations"] > 0
    assert report["rows"] >= 5000


@every_third_lock(2)
def test_kyoto_cabinet(launch: Launcher, lock: Lock) -> None:
    """kccachetest checks its own results and prints `ok`."""
    threads = lock.threads(4)
    result = launch.run(
        need("kccachetest", "kyotocabinet-utils"), "wicked", "-th", threads, 3000
    )
    assert result.stdout.rstrip().endswith("ok")
    assert "time: " in result.stdout


@quick_locks()
def test_pigz_round_trip(launch: Launcher, lock: Lock) -> None:
    """pigz has a pipeline with condition variables. Hasp must not write to stdout."""
    pigz = need("pigz", "pigz")
    original = launch.folder / "original"
    words = random.Random(1).choices(range(1 << 16), k=1 << 15)
    original.write_text("".join(f"{word:x} {word % 97} " for word in words * 8))
    threads = lock.threads(4)
    script = '"$0" -p "$1" -b 32 -c "$2" | gunzip > "$2.back"'
    launch.run("sh", "-c", f"set -e; {script}", pigz, threads, original)
    assert filecmp.cmp(original, f"{original}.back", shallow=False)
    launch.run(
        "sh", "-c", 'cat "$1" | "$0" -p 3 | "$0" -dc > "$1.piped"', pigz, original
    )
    assert filecmp.cmp(original, f"{original}.piped", shallow=False)


NODE_RANDOM = """
const crypto = require('crypto');
const seen = new Set();
let asked = 0, running = 64;
function next() {
  if (asked === 6000) {
    if (--running === 0) console.log(JSON.stringify({asked, seen: seen.size}));
    return;
  }
  asked++;
  crypto.randomBytes(16, (error, bytes) => {
    if (error) throw error;
    if (bytes.length === 16) seen.add(bytes.toString('hex'));
    next();
  });
}
for (let i = 0; i < 64; i++) next();
"""


@quick_locks()
def test_node_random_bytes(launch: Launcher, lock: Lock) -> None:
    """libuv's pool uses a mutex and a condition variable for each request and reply."""
    node = need("node", "nodejs")
    pool = lock.threads(4)
    script = f"process.env.UV_THREADPOOL_SIZE = '{pool}';" + NODE_RANDOM
    report = json.loads(launch.run(node, "-e", script).stdout)
    assert report == {"asked": 6000, "seen": 6000}


PYTHON_QUEUE = """
import queue, sys, threading
ITEMS, PAIRS = 500, 4
items, sums = queue.Queue(8), []
def produce():
    for item in range(ITEMS):
        items.put(item)
    items.put(None)
def consume():
    total = 0
    while (item := items.get()) is not None:
        total += item
    sums.append(total)
threads = [threading.Thread(target=work) for work in (produce, consume) * PAIRS]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(sums), sum(sums))
"""


@quick_locks()
def test_python_queue(launch: Launcher) -> None:
    """Eight threads pass on the interpreter lock, a mutex with timed waits."""
    result = launch.run(need("python3", "python3"), "-c", PYTHON_QUEUE)
    assert result.stdout.split() == ["4", str(4 * sum(range(500)))]


@pytest.mark.real_slow
@pytest.mark.timeout(150)
def test_db_bench_oversubscribed(launch: Launcher, lock: Lock) -> None:
    """This is the workload of `make demo`: 32 threads, even under spinning locks."""
    program = need("db_bench", "rocksdb-tools")
    shared = [f"--db={launch.folder / 'db'}", "--num=20000", "--progress_reports=0"]
    shared += ["--disable_wal=1", "--cache_size=67108864", "--cache_numshardbits=0"]
    launch.run(program, "--benchmarks=fillrandom", *shared, interposed=False)
    result = launch.run(
        program,
        "--benchmarks=readrandom",
        "--use_existing_db=1",
        "--threads=32",
        "--duration=2",
        "--ops_between_duration_checks=1",
        "--histogram=1",
        *shared,
        limit=120,
    )
    match = FOUND.search(result.text)
    assert match is not None, result.text[-3000:]
    assert number(r"readrandom +:.* (\d+) ops/sec", result.text) > 0
    assert number(r"P99: ([\d.]+)", result.text) > 0
