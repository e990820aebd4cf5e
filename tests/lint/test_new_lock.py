# SPDX-License-Identifier: MIT
"""Adding a lock is one header and one entry of the list: this adds one, and runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.timeout(180)

# An entry: the header, where the list includes it, and the LOCK line itself.
MUTEXEE_ENTRY = re.compile(
    r'^(?:#include "locks/mutexee\.h"\n)?LOCK\(mutexee,.*?\)\n(?=#include|LOCK|\n)',
    re.MULTILINE | re.DOTALL,
)

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
    """The whole change: a header and an entry in the list, both mutexee's, renamed."""
    locks = tree / "src/locks"
    header = (locks / "mutexee.h").read_text()
    (locks / "added.h").write_text(
        header.replace("mutexee", "added").replace("MUTEXEE", "ADDED")
    )
    listing = (locks / "locks.def").read_text()
    entry = MUTEXEE_ENTRY.search(listing)
    assert entry
    added = re.sub(
        '"added", "added"', '"added", ""', entry[0].replace("mutexee", "added")
    )
    first = entry.start()
    (locks / "locks.def").write_text(listing[:first] + added + listing[first:])


def build(tree: Path) -> Path:
    folder = tree / "build"
    tools = Path(sys.executable).parent
    path = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    options = ["-Dtests=false", "-Dpython=false"]
    for command in (
        ["meson", "setup", folder, tree, *options],
        ["ninja", "-C", folder, "src/locks/hasp-locks", "src/preload/libhasp.so"],
    ):
        done = subprocess.run(command, env=path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_a_lock_is_one_header_and_one_entry(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("meson.build", "meson.options", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    for name in ("src", "include"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name)
    add_lock(tree)
    folder = build(tree)

    listing = subprocess.check_output([folder / "src/locks/hasp-locks"], text=True)
    records = {
        record["name"]: record for record in map(json.loads, listing.splitlines())
    }
    assert records["added"]["summary"] == records["mutexee"]["summary"]
    assert records["futex"]["default"]

    source, program = tmp_path / "counter.c", tmp_path / "counter"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-pthread", "-o", program, source], check=True)
    variables = {
        "LD_PRELOAD": str(folder / "src/preload/libhasp.so"),
        "HASP_LOCK": "added",
        "HASP_VERBOSE": "1",
    }
    done = subprocess.run([program], env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "100000\n"), done.stderr
    assert "lock=added" in done.stderr
