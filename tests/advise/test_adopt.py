# SPDX-License-Identifier: MIT
"""Tests `hasp adopt`: the changes that it prints make programs that work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hasp.cli.main import main

PROGRAM = """\
#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct store {
    pthread_mutex_t mu; /* pthread_mutex_lock(&mu) */
    pthread_cond_t changed;
    long count;
};

static struct store store;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *argument)
{
    struct store *to = argument;
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&to->mu);
        to->count++;
        pthread_cond_signal(&to->changed);
        pthread_mutex_unlock(&to->mu);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_mutex_init(&store.mu, NULL);
    pthread_cond_init(&store.changed, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, &store);
    pthread_mutex_lock(&store.mu);
    while (store.count < 2000) {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_sec += 1;
        pthread_cond_timedwait(&store.changed,
                               &store.mu, &at);
    }
    pthread_mutex_unlock(&store.mu);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&other);
    printf("%ld\\n", store.count);
    pthread_mutex_unlock(&other);
    pthread_cond_destroy(&store.changed);
    return pthread_mutex_destroy(&store.mu);
}
"""
CXX = """\
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
struct store {
    std::mutex mu;
    long count = 0;
} store;
static void add()
{
    for (int i = 0; i < 1000; i++) {
        std::lock_guard<std::mutex> held(store.mu);
        store.count++;
    }
}
int main()
{
    std::thread one(add), two(add);
    one.join();
    two.join();
    std::unique_lock held(store.mu);
    std::printf("%ld\\n", store.count);
}
"""


def plan(folder: Path, site: str, lock: str, kind: str = "mutex") -> Path:
    path = folder / "hasp.plan.toml"
    path.write_text(
        f'version = 1\n[[lock]]\nsite = "{site}"\nlock = "{lock}"\nkind = "{kind}"\n'
        'module = "program"\noffsets = [0x1234]\n'
    )
    return path


def adopted(path: Path, folder: Path) -> list[dict[str, Any]]:
    out = folder / "changes.json"
    words = ["adopt", str(path), "--source", str(folder), "--json", str(out)]
    assert main(words) == 0
    return [json.loads(line) for line in out.read_text().splitlines()]


def apply(record: dict[str, Any]) -> None:
    """Make the changes, the last of a file first, and add the headers."""
    changes = record["changes"]
    for change in sorted(changes, key=lambda each: -each["line"]):
        path = Path(change["file"])
        lines = path.read_text().split("\n")
        begin, before = change["line"] - 1, change["before"].split("\n")
        assert lines[begin : begin + len(before)] == before
        lines[begin : begin + len(before)] = change["after"].split("\n")
        path.write_text("\n".join(lines))
    for file in {change["file"] for change in changes}:
        includes = "".join(f"#include <{each}>\n" for each in record["headers"])
        Path(file).write_text(includes + Path(file).read_text())


def compile_and_run(source: Path) -> str:
    config = [sys.executable, "-m", "hasp", "config", "--cflags", "--libs"]
    flags = subprocess.run(config, capture_output=True, text=True, check=True)
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    program = source.with_suffix("")
    command = [compiler, "-Wall", "-Werror", source, "-o", program]
    subprocess.run([*command, *flags.stdout.split()], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("lock", ["mcs-park", "auto", "gcr+mcs"])
def test_the_changed_program_works(tmp_path: Path, lock: str) -> None:
    source = tmp_path / "store.c"
    source.write_text(PROGRAM)
    (record,) = adopted(plan(tmp_path, "store.c:28 &store.mu", lock), tmp_path)
    apply(record)
    text = source.read_text()
    assert "pthread_mutex_lock(&other)" in text
    assert "/* pthread_mutex_lock(&mu) */" in text
    assert "pthread_mutex_unlock(&store.mu)" not in text
    assert compile_and_run(source) == "2000\n"


def test_an_elided_lock_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "store.c").write_text(PROGRAM)
    (record,) = adopted(plan(tmp_path, "store.c:28 &store.mu", "elide+mcs"), tmp_path)
    assert record["changes"] == []
    assert "no elision" in record["remarks"][0]


def test_a_changed_cxx_program_works(tmp_path: Path) -> None:
    source = tmp_path / "store.cpp"
    source.write_text(CXX)
    (record,) = adopted(plan(tmp_path, "store.cpp:6 store.mu", "mcs-park"), tmp_path)
    assert record["headers"] == ["hasp/mutex.hpp"]
    apply(record)
    assert "std::lock_guard<hasp::mutex<hasp::mcs_park>>" in source.read_text()
    assert compile_and_run(source) == "2000\n"


def test_rwlocks_and_barriers(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;\n"
        "void f(void)\n{\n    pthread_rwlock_rdlock(&table);\n"
        "    pthread_rwlock_unlock(&table);\n}\n"
    )
    (record,) = adopted(plan(tmp_path, "a.c:1 table", "phase-fair", "rwlock"), tmp_path)
    assert "hasp_rwlock_read_lock(&table)" in record["changes"][1]["after"]
    assert 'hasp_rwlock_init(..., "phase-fair")' in record["remarks"][0]
    (tmp_path / "a.c").write_text(
        "pthread_barrier_t end;\n"
        "void f(void) { pthread_barrier_init(&end, NULL, 3); }\n"
    )
    (record,) = adopted(plan(tmp_path, "a.c:2 &end", "central", "barrier"), tmp_path)
    wanted = 'hasp_barrier_init(&end, "central", 3)'
    assert wanted in record["changes"][1]["after"]


def test_what_cannot_be_replaced_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "static pthread_mutex_t mu, mu2;\n"
        "void f(void)\n{\n    pthread_mutex_init(&mu, &recursive);\n    help(&mu);\n}\n"
    )
    (record,) = adopted(plan(tmp_path, "a.c:4 &mu", "mcs"), tmp_path)
    remarks = "\n".join(record["remarks"])
    assert "a.c:4: &recursive: only plain mutexes have a counterpart" in remarks
    assert "a.c:5 passes it to help()" in remarks
    assert "a.c:1 declares several objects" in remarks


@pytest.mark.parametrize(
    ("site", "lock", "remark"),
    [
        ("a.c:1 &mu", "glibc", "stays as it is"),
        ("server+0x123", "mcs", "compile the program with -g"),
        ("b.c:1 &mu", "mcs", "b.c is not below"),
        ("a.c:1", "mcs", "names no lock"),
        ("a.c:1 &mu", "mcs", "a.c does not contain mu"),
        ("twice.c:1 &mu", "mcs", "--profile TRACE"),
    ],
)
def test_why_there_is_nothing_to_change(
    tmp_path: Path, site: str, lock: str, remark: str
) -> None:
    (tmp_path / "a.c").write_text("int x;\n")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "twice.c").write_text("pthread_mutex_t mu;\n")
    (record,) = adopted(plan(tmp_path, site, lock), tmp_path)
    assert record["changes"] == []
    assert remark in "\n".join(record["remarks"])


def test_the_text_shows_both_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.c"
    source.write_text("pthread_mutex_t mu;\nint f(void) { pthread_mutex_lock(&mu); }\n")
    path = plan(tmp_path, "a.c:2 &mu", "ticket")
    assert main(["adopt", str(path), "--source", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"include <hasp/mutex.h> in {source}" in out
    assert "    - pthread_mutex_t mu;\n    + struct hasp_mutex_ticket mu;\n" in out
    assert "Nothing has been changed" in out


@pytest.mark.parametrize(
    ("words", "message", "remedy"),
    [
        (["none.toml"], "none.toml", ""),
        (["empty.toml"], "has no entry for a site", "hasp advise --write"),
        (["good.toml", "--source", "nowhere"], "nowhere is not a folder", "--source"),
        (["good.toml", "--profile", "good.toml"], "good.toml", "trace"),
    ],
)
def test_bad_input_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
    remedy: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.toml").write_text("version = 1\n")
    plan(tmp_path, "a.c:1 &mu", "mcs").rename("good.toml")
    command = [sys.executable, "-m", "hasp", "adopt", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert remedy in done.stderr
