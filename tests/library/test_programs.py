# SPDX-License-Identifier: MIT
"""Programs outside the tree build against the installed library, and run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from library_folder import Installed
from lock_list import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from c_tokens import code
from public_names import functions

EXAMPLES = ROOT / "docs/examples/library"
CALLERS = (EXAMPLES, ROOT / "tests/library", ROOT / "tests/unit", ROOT / "src/bench")
# Parts of other functions of the headers.
PRIVATE = {"hasp_channel_deadline", "hasp_delegate_wait_until", "hasp_told_section"}
EXPECTED = {
    "mutex.c": "80000 increments, 500500 through a place under futex, then: "
    "Connection timed out",
    "rwlock.c": "5000 writes under bravo+rw-futex, 0 torn reads",
    "map.c": "6 letters, 26000 in all, most often e: 8000; 5 without e",
    "words.c": "5004 found, 5004 looked up; the root of 0 was 10007; then 5003",
    "words.cpp": "60000 counted; 500 keys left, a new value: 1",
    "transaction.c": "0 wrong totals; the journal is complete",
    "barrier.c": "200 phases, each ended by one thread: 200",
    "shared_barrier.c": "199 phases, 1 worker killed, 2 told so",
    "channel.c": "2001 requests; 2 clients closed, 1 died",
    "delegate.c": "40000 words, 40000 sections",
    "ring.c": "100 pictures, 1515800 bytes, sum 99990000, then: closed",
    "mutex.cpp": "moved 15000 of 15000, rate 3, malthusian-park 1, conditions 1 1, "
    "refused 1",
}


def build(installed: Installed, name: str, folder: Path, *options: str) -> Path:
    return installed.compile(EXAMPLES / name, folder / "program", *options)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_examples_run(installed: Installed, name: str, tmp_path: Path) -> None:
    done = installed.run(build(installed, name, tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    if name in EXPECTED:
        assert done.stdout == EXPECTED[name] + "\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("mutex.c", ""), ("rwlock.c", "rwlock "), ("barrier.c", "barrier ")],
)
def test_an_unknown_name_is_an_error(
    installed: Installed, name: str, kind: str, tmp_path: Path
) -> None:
    program = build(installed, name, tmp_path)
    for wrong in ("no-such-lock", "glibc"):
        done = installed.run(program, wrong)
        assert done.returncode == 2
        assert done.stderr == f"there is no {kind}algorithm called {wrong}\n"


@pytest.mark.parametrize("choice", ["node", "cache", "core"])
def test_cohorts_are_chosen_by_the_environment(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    program = build(installed, "mutex.c", tmp_path)
    monkeypatch.setenv("HASP_COHORTS", choice)
    done = installed.run(program, "hmcs")
    assert "place under hmcs," in done.stdout
    told = "hasp: ignoring HASP_COHORTS, which must be auto, cache or node: core\n"
    assert done.stderr == (told if choice == "core" else "")


def test_every_algorithm_that_parks_works_by_name(
    installed: Installed, tmp_path: Path
) -> None:
    program = build(installed, "mutex.c", tmp_path)
    listing = [sys.executable, "-m", "hasp", "list", "--kind", "mutex", "--json"]
    done = subprocess.run(listing, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    names = [row["name"] for row in rows if row["parks"] and row["name"] != "glibc"]
    assert len(names) > 5
    for name in [*names, "gcr+mcs"]:
        done = installed.run(program, name)
        assert f"place under {name}," in done.stdout, done.stderr


def test_it_runs_beside_the_interposer(installed: Installed, tmp_path: Path) -> None:
    source = tmp_path / "both.c"
    source.write_text(
        """#include <hasp/mutex.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t theirs = PTHREAD_MUTEX_INITIALIZER;
static struct hasp_mutex_mcs_park ours = HASP_MUTEX_INITIALIZER;
static long count;
static void *run(void *unused)
{
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&theirs);
        hasp_mutex_mcs_park_lock(&ours);
        count++;
        hasp_mutex_mcs_park_unlock(&ours);
        pthread_mutex_unlock(&theirs);
    }
    return unused;
}
int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\\n", count);
}
"""
    )
    program = installed.compile(source, tmp_path / "both")
    hasp = (sys.executable, "-m", "hasp", "run", "--lock")
    for lock in ("mcs-park", "futex"):
        done = installed.run(*hasp, lock, "--", program)
        assert (done.returncode, done.stdout) == (0, "15000\n"), done.stderr


def test_a_forked_child_uses_the_mutexes(installed: Installed, tmp_path: Path) -> None:
    program = installed.compile(
        ROOT / "tests/library/forks.c", tmp_path / "forks", "-D_GNU_SOURCE"
    )
    done = installed.run(program)
    assert (done.returncode, done.stdout) == (0, "all children finished\n"), done.stderr


def test_a_shared_mutex_of_the_caller_throws(
    installed: Installed, tmp_path: Path
) -> None:
    source = tmp_path / "again.cpp"
    source.write_text(
        """#include <hasp/mutex.hpp>
#include <cstdio>
template <class Acquire> bool refused(Acquire acquire)
{
    try {
        acquire();
    } catch (const std::system_error &problem) {
        return problem.code() == std::errc::resource_deadlock_would_occur;
    }
    return false;
}
int main()
{
    hasp::shared_mutex mutex;
    mutex.lock();
    std::printf("%d", refused([&] { mutex.lock(); }));
    std::printf("%d", refused([&] { mutex.lock_shared(); }));
    std::printf("%d\\n", mutex.try_lock_for(std::chrono::seconds(0)));
    mutex.unlock();
}
"""
    )
    done = installed.run(installed.compile(source, tmp_path / "again"))
    assert (done.returncode, done.stdout) == (0, "110\n"), done.stderr


def test_senseless_arguments_are_answered(installed: Installed, tmp_path: Path) -> None:
    program = installed.compile(
        ROOT / "tests/library/arguments.c", tmp_path / "arguments"
    )
    done = installed.run(program)
    assert (done.returncode, done.stdout) == (0, "all answered\n"), done.stderr


def test_every_call_does_what_its_comment_says(
    installed: Installed, tmp_path: Path
) -> None:
    program = installed.compile(
        ROOT / "tests/library/every_call.c", tmp_path / "calls", "-D_DEFAULT_SOURCE"
    )
    done = installed.run(program)
    assert (done.returncode, done.stdout) == (0, "every call answered\n"), done.stderr


def test_every_function_is_called_by_a_program() -> None:
    called = "".join(
        path.read_text()
        for folder in CALLERS
        for path in folder.rglob("*")
        if path.suffix in (".c", ".cpp", ".h", ".py")
    )
    declared = set()
    for header in (ROOT / "include/hasp").glob("*.h"):
        words = code(header.read_text())
        declared |= {words[opening - 1] for opening, _, _ in functions(words)}
    assert "hasp_ring_release" in declared
    assert {name for name in declared - PRIVATE if f"{name}(" not in called} == set()


@pytest.mark.slow
def test_cmake_finds_it(installed: Installed, tmp_path: Path) -> None:
    if not shutil.which("cmake"):
        pytest.skip("needs cmake")
    (config,) = installed.prefix.rglob("haspConfig.cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(program C)\n"
        "find_package(hasp 0.1 REQUIRED)\n"
        f"add_executable(program {EXAMPLES}/mutex.c)\n"
        "target_link_libraries(program hasp::hasp)\n"
    )
    build = tmp_path / "build"
    configure = ["cmake", "-S", tmp_path, "-B", build, f"-Dhasp_DIR={config.parent}"]
    for command in (configure, ["cmake", "--build", build]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert subprocess.run([build / "program"]).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mutex.c", "rwlock.c", "barrier.c", "transaction.c"])
def test_the_thread_sanitizer_sees_the_order(
    installed: Installed, name: str, tmp_path: Path
) -> None:
    done = installed.run(build(installed, name, tmp_path, "-g", "-fsanitize=thread"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("option", ["--keep-system-libs", "--define-prefix"])
def test_a_moved_installation_is_found(
    installed: Installed, option: str, tmp_path: Path
) -> None:
    prefix = shutil.copytree(installed.prefix, tmp_path / "moved here", symlinks=True)
    moved = Installed(
        prefix, prefix / installed.description.relative_to(installed.prefix)
    )
    include, library, *_ = moved.flags(option, "--cflags-only-I", "--libs-only-L")
    assert Path(include.removeprefix("-I")).samefile(prefix / "include")
    assert Path(library.removeprefix("-L")).samefile(moved.library)


def test_hasp_config_compiles_a_program(installed: Installed, tmp_path: Path) -> None:
    config = [sys.executable, "-m", "hasp", "config", "--cflags", "--libs"]
    done = subprocess.run(config, capture_output=True, text=True, check=True)
    program = tmp_path / "program"
    command = ["gcc", EXAMPLES / "barrier.c", "-o", program, *done.stdout.split()]
    subprocess.run(command, check=True)
    assert subprocess.run([program]).returncode == 0


def test_hasp_config_without_headers_names_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "library.json").write_text('{"include": "none", "library": "none"}')
    done = subprocess.run(
        [sys.executable, "-m", "hasp", "config"],
        env={**os.environ, "HASP_NATIVE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "the headers are not installed" in done.stderr
    assert "install Hasp again" in done.stderr
