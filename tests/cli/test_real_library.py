# SPDX-License-Identifier: MIT
"""Tests the command line with the native programs and libraries of the build."""

from __future__ import annotations

import json
import re

import pytest

from .conftest import compile_c

# Two threads count under one mutex; without mutual exclusion, they would lose counts.
COUNTING = r"""
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count;
static void *work(void *unused) {
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("count: %ld\n", count);
}
"""


@pytest.fixture(scope="module")
def counting(tmp_path_factory):
    return compile_c(
        COUNTING, tmp_path_factory.mktemp("real") / "counting", "-pthread", "-O2"
    )


def test_the_list_is_complete(hasp, lock_names):
    lines = map(json.loads, hasp("list", "--json").stdout.splitlines())
    mutexes = [line["name"] for line in lines if line["kind"] == "mutex"]
    assert mutexes == lock_names
    assert lock_names[0] == "glibc"
    table = hasp("list").stdout
    assert max(map(len, table.splitlines())) <= 80
    assert "Collapse when oversubscribed" in table


def test_every_lock_runs_the_program_and_reports_its_name(
    hasp, lock_names, counting, monkeypatch
):
    monkeypatch.setenv("HASP_VERBOSE", "1")
    for name in lock_names:
        finished = hasp("run", "--lock", name, "--", counting)
        assert (finished.returncode, finished.stdout) == (0, "count: 40000\n"), name
        expected = rf"hasp: lock={re.escape(name)} bias=(on|off) pid=\d+\n"
        assert re.fullmatch("" if name == "glibc" else expected, finished.stderr)


def test_a_comparison(hasp, counting, tmp_path):
    plot = tmp_path / "plot.png"
    finished = hasp(
        *("compare", "--locks", "mcs-park,futex", "--runs", 2, "--plot", plot),
        *("--check", "grep -qx 'count: 40000'", "--json", "-", "--", counting),
    )
    assert finished.returncode == 0, finished.stderr
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    good = [line for line in lines if line["kind"] == "run" and line["outcome"] == "ok"]
    assert len(good) == 9
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_doctor_finds_the_installation(hasp, counting):
    finished = hasp("doctor", "--json", "--", counting)
    assert finished.returncode == 0
    found = {
        line["name"]: line for line in map(json.loads, finished.stdout.splitlines())
    }
    assert int(found["locks"]["value"]) >= 10
    assert re.fullmatch(r"\d+ ns", found["parking cost"]["value"])
    assert found["pthread mutexes"]["value"] == "counting"
