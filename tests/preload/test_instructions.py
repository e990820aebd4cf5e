# SPDX-License-Identifier: MIT
"""A lock of the list adds no code to the path of another, however many there are.

Counted, not timed: valgrind executes the same instructions each time.
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
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        shutil.which("valgrind") is None,
        reason="valgrind is missing: apt-get install valgrind",
    ),
]

FEW = ("ttas", "futex")
PAIRS = 2000

# Instructions at start, of about 200,000: the loader relocates the lock's entry, and
# the table of operations is filled.
MOST_AT_START = 500

# With a second thread, as locks are used.
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *idle(void *unused) { pause(); return unused; }
int main(int count, char **words) {
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
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
    subprocess.run(["cc", "-O2", "-pthread", "-o", result, source], check=True)
    return result


def as_configured() -> tuple[str, ...]:
    """The options of the build under test that change what code looks like."""
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
    return tuple(
        f"-D{name}={str(values[name]).lower()}"
        for name in ("optimization", "debug", "b_sanitize", "b_ndebug", "b_lto")
    )


@pytest.fixture(scope="module")
def small_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hasp with a list of two locks."""
    tree = tmp_path_factory.mktemp("small") / "tree"
    keep_only(copy_tree(tree), *FEW)
    folder = build(tree, "libhasp.so", options=as_configured())
    return folder / "src/preload/libhasp.so"


def instructions(program: Path, pairs: int, env: Mapping[str, str]) -> int:
    """What the program executes from its first instruction to its last."""
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
    # The first call does a little more, in one as in the other.
    assert abs(pairs_with_all - pairs_with_few) / PAIRS < 0.5
    assert pairs_with_few / PAIRS > 10
    added = len(records()) - 1 - len(FEW)
    assert (start_with_all - start_with_few) / added <= MOST_AT_START


def test_an_instruction_more_would_be_seen(program: Path) -> None:
    """The count can tell: paths that differ by a few instructions differ in it."""
    counts = {
        instructions(program, PAIRS, matrix.environment(matrix.Lock(name)))
        - instructions(program, 0, matrix.environment(matrix.Lock(name)))
        for name in ("ttas", "mcs", "futex")
    }
    assert len({round(count / PAIRS) for count in counts}) == 3
