# SPDX-License-Identifier: MIT
"""Adds a lock and runs it, to show that one header and one list entry suffice."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from list_entries import ENTRY
from lock_list import ROOT
from tree import build, copy_tree

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]  # compiles nearly everything

PROGRAMS = (
    *("hasp-locks", "hasp-bench-locks", "hasp-calibrate", "hasp-explore"),
    "libhasp.so",
)

# Compiles in half the time; whether the lock works does not depend on it.
QUICK = ("-Doptimization=1", "-Ddebug=false")

COUNTER = """\
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count;
static void *work(void *unused)
{
    for (int i = 0; i < 50000; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\\n", count);
    return 0;
}
"""


def add_lock(tree: Path) -> None:
    """Add a copy of mutexee's header and list entry under another name."""
    locks = tree / "src/locks"
    header = (locks / "algorithms/mutexee.h").read_text()
    (locks / "algorithms/added.h").write_text(
        header.replace("mutexee", "added").replace("MUTEXEE", "ADDED")
    )
    listing = (locks / "locks.def").read_text()
    (entry,) = (match for match in ENTRY.finditer(listing) if match[1] == "mutexee")
    renamed = entry[0].replace("mutexee", "added")
    added = re.sub('"added", "added"', '"added", ""', renamed)
    added = '#include "locks/algorithms/added.h"\n' + added
    before, after = listing[: entry.start()], listing[entry.start() :]
    (locks / "locks.def").write_text(before + added + after)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a copy of the sources with one more lock."""
    tree = tmp_path_factory.mktemp("added") / "tree"
    copy_tree(tree)
    add_lock(tree)
    build(tree, *PROGRAMS, options=QUICK)
    return tree


@pytest.fixture
def with_added(hasp: Hasp, tree: Path) -> Hasp:
    """Return the command line with the native programs of that copy."""
    env = {**os.environ, "HASP_NATIVE_DIR": str(tree / "build"), "HASP_VERBOSE": "1"}
    return lambda *words: hasp(*words, env=env)


def test_it_is_listed(with_added: Hasp) -> None:
    lines = with_added("list", "--json").stdout.splitlines()
    records = {record["name"]: record for record in map(json.loads, lines)}
    assert records["added"]["summary"] == records["mutexee"]["summary"]
    assert records["futex"]["default"]
    assert " added " in with_added("list").stdout


def test_programs_run_under_it(with_added: Hasp, tmp_path: Path) -> None:
    source, program = tmp_path / "counter.c", tmp_path / "counter"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-pthread", "-o", program, source], check=True)
    for lock in ("added", "gcr+added"):
        done = with_added("run", "--lock", lock, "--", program)
        assert (done.returncode, done.stdout) == (0, "100000\n"), done.stderr
        assert f"lock={lock} " in done.stderr


def test_it_is_measured(with_added: Hasp) -> None:
    done = with_added(
        *("bench", "locks", "--runs", 1, "--locks", "added", "--json"),
        *("--cases", "uncontended"),
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(row["lock"] == "added" and row["value"] > 0 for row in rows)


def test_it_is_checked(with_added: Hasp) -> None:
    done = with_added(
        "check", "--locks", "added", "--quick", "--client", "all", "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["lock"] for row in rows if "lock" in row} == {"added"}


def test_it_gets_a_page(tree: Path) -> None:
    shutil.copytree(ROOT / "docs", tree / "docs")
    maker = tree / "tools/make_lock_catalogue.py"
    lister = tree / "build/src/list/hasp-locks"
    subprocess.run([sys.executable, maker, lister, "--write"], check=True)
    page = (tree / "docs/locks/added.md").read_text()
    assert "Idea" in page
    assert "ADDED" in page.upper()
    assert "(locks/added.md)" in (tree / "docs/locks.md").read_text()
