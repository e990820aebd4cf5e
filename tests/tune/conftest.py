# SPDX-License-Identifier: MIT
"""Provides a program with a known rate under each lock, and runs `hasp tune` on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# Two threads share two mutexes, so that there is something to record. The rate that it
# prints is read from a file, LOCK RATE a line, and does not depend on the machine; its
# noise, 1 %, is derived from the process id.
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static volatile long counter;

static void *work(void *unused) {
    for (int turn = 0; turn < 2000; turn++) {
        pthread_mutex_lock(&first);
        counter++;
        pthread_mutex_unlock(&first);
        pthread_mutex_lock(&second);
        counter++;
        pthread_mutex_unlock(&second);
    }
    return unused;
}

int main(int count, char **words) {
    pthread_t threads[2];
    for (int each = 0; each < 2; each++) {
        pthread_create(&threads[each], NULL, work, NULL);
    }
    for (int each = 0; each < 2; each++) {
        pthread_join(threads[each], NULL);
    }
    const char *lock = getenv("HASP_LOCK") ? getenv("HASP_LOCK") : "glibc";
    if (getenv("HASP_PLAN")) {
        lock = "plan";
    }
    FILE *table = fopen(words[1], "r");
    char name[64];
    double rate, found = 100;
    while (fscanf(table, "%63s %lf", name, &rate) == 2) {
        found = strcmp(name, lock) == 0 ? rate : found;
    }
    if (found < 0) {
        puts("nothing to see");
        return 0;
    }
    if (found == 0) {
        pause();
    }
    if (count > 2) {
        found *= atoi(words[2]);
    }
    unsigned noise = (unsigned)getpid() * 2654435761u >> 16;
    printf("rate: %f\np99: %f us\n", found * (1 + (noise % 200) / 1e4), 1e5 / found);
    return 0;
}
"""


@dataclass(frozen=True)
class Tuned:
    """The outcome of `hasp tune`."""

    status: int
    text: str
    errors: str
    folder: Path

    @property
    def records(self) -> list[dict[str, Any]]:
        """Return the JSON records."""
        lines = (self.folder / "out.json").read_text().splitlines()
        return [json.loads(line) for line in lines]

    @property
    def result(self) -> dict[str, Any]:
        """Return the record of the result."""
        return self.records[0]

    def candidate(self, lock: str) -> dict[str, Any]:
        """Return the record of a candidate."""
        return next(one for one in self.records[1:] if one["lock"] == lock)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the program."""
    folder = tmp_path_factory.mktemp("tuned")
    source = folder / "rated.c"
    source.write_text(PROGRAM)
    path = folder / "rated"
    subprocess.run(
        ["cc", "-g", "-O1", "-pthread", "-o", path, source], check=True, timeout=60
    )
    return path


@pytest.fixture
def rates(tmp_path: Path) -> Path:
    """Return the file with the rate under each lock; other locks have a rate of 100."""
    path = tmp_path / "rates"
    path.write_text("spinbit 150\nmutexee 120\n")
    return path


@pytest.fixture
def start(
    program: Path, rates: Path, tmp_path: Path
) -> Callable[..., subprocess.Popen[str]]:
    """Starts `hasp tune OPTIONS -- PROGRAM RATES WORDS`."""

    def begin(
        *options: str, words: tuple[str, ...] = (), command: str = ""
    ) -> subprocess.Popen[str]:
        metric = ("--metric", r"rate=rate: ([0-9.]+)")
        given = [] if "--metric" in options else metric
        line = [sys.executable, "-m", "hasp", "tune", *given, *options]
        line += ["--json", "out.json", "--", command or str(program), str(rates)]
        return subprocess.Popen(
            [*line, *words],
            cwd=tmp_path,
            env=os.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return begin


@pytest.fixture
def tune(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> Callable[..., Tuned]:
    """Runs `hasp tune` to its end."""

    def run(*options: str, **more: Any) -> Tuned:
        with start(*options, **more) as process:
            text, errors = process.communicate(timeout=120)
        return Tuned(process.returncode, text, errors, tmp_path)

    return run
