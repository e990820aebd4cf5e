# SPDX-License-Identifier: MIT
"""A lock does not add instructions to the operations of other locks.

valgrind counts the instructions, which is exact, unlike timing.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from lock_list import BUILD, records
from preload import matrix
from tree import build, copy_tree, keep_only

pytestmark = [
    pytest.mark.slow,  # builds a library of its own
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        shutil.which("valgrind") is None,
        reason="valgrind is missing: apt-get install valgrind",
    ),
]

FEW = ("ttas", "futex")
PAIRS = 2000

# Number of instructions that a lock may add to the 200,000 of a start, for relocating
# its entries, plain, wrapped and elided, and filling its slots in the dispatch table.
MAX_AT_START = 600

# The program has a second thread, because locks skip atomic operations in a process
# with one. Main waits until that thread has run, so that every run counts its start.
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int started[2];
static void *idle(void *unused) {
    if (write(started[1], "", 1) != 1) abort();
    pause();
    return unused;
}
int main(int count, char **words) {
    pthread_t thread;
    char byte;
    if (pipe(started) || pthread_create(&thread, NULL, idle, NULL)) abort();
    if (read(started[0], &byte, 1) != 1) abort();
    for (long i = atol(words[count - 1]); i; i--) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    _exit(0);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    source, result = folder / "pairs.c", folder / "pairs"
    source.write_text(PROGRAM)
    # Symbols are resolved at the start. Otherwise pause() might or might not be looked
    # up, depending on which thread runs first after the write.
    options = ["-O2", "-pthread", "-Wl,-z,now"]
    subprocess.run(["cc", *options, "-o", result, source], check=True)
    return result


def as_configured() -> tuple[str, ...]:
    """Return the options of the build under test that affect code generation."""
    output = subprocess.run(
        [
            Path(sys.executable).with_name("meson"),
            *("introspect", "--buildoptions", BUILD),
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    values = {option["name"]: option["value"] for option in json.loads(output)}
    names = ("optimization", "b_sanitize", "b_ndebug", "b_lto")
    given = (f"-D{name}={str(values[name]).lower()}" for name in names)
    return ("-Ddebug=false", *given)


@pytest.fixture(scope="module")
def small_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a libhasp.so built with only two locks."""
    tree = tmp_path_factory.mktemp("small") / "tree"
    keep_only(copy_tree(tree), *FEW)
    folder = build(tree, "libhasp.so", options=as_configured())
    return folder / "src/preload/libhasp.so"


def instructions(program: Path, pairs: int, env: Mapping[str, str]) -> int:
    """Return the number of instructions that the program executes from start to end."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    finished = subprocess.run(
        [*command, program, str(pairs)],
        env=dict(env),
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    match = re.search(r"Collected : (\d+)", finished.stderr)
    assert match is not None, finished.stderr
    return int(match[1])


@pytest.mark.parametrize("name", FEW)
def test_a_lock_adds_no_code_to_another(
    program: Path, small_library: Path, name: str
) -> None:
    lock = matrix.Lock(name)
    with_few = matrix.environment(lock, interposer=small_library)
    with_all = matrix.environment(lock)
    start_with_few = instructions(program, 0, with_few)
    start_with_all = instructions(program, 0, with_all)
    pairs_with_few = instructions(program, PAIRS, with_few) - start_with_few
    pairs_with_all = instructions(program, PAIRS, with_all) - start_with_all
    # In both builds, the first call executes a few more instructions.
    assert abs(pairs_with_all - pairs_with_few) / PAIRS < 0.5
    assert pairs_with_few / PAIRS > 10
    added = len(records()) - 1 - len(FEW)
    assert (start_with_all - start_with_few) / added <= MAX_AT_START


def test_an_additional_instruction_would_be_detected(program: Path) -> None:
    """Locks whose operations differ by a few instructions have different counts."""
    counts = {
        instructions(program, PAIRS, matrix.environment(matrix.Lock(name)))
        - instructions(program, 0, matrix.environment(matrix.Lock(name)))
        for name in ("ttas", "mcs", "futex")
    }
    assert len({round(count / PAIRS) for count in counts}) == 3
