# SPDX-License-Identifier: MIT
"""The lock `delegate`: threads run the sections of others, and programs stay right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lock_list import BUILD
from preload import matrix

LIBRARY = BUILD / "src" / "preload" / "libhasp-delegate.so"
DELEGATE = matrix.Lock("delegate")
WITHOUT_RSEQ = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
# So long that no stretch ends early because the machine is busy.
UNINTERRUPTED = {"HASP_BORROWING_SLICE_MS": "1000000", "CHECK_BORROWED": "1"}
# Their sections end only after their borrower has gone on.
INTERRUPTED = ("blocks", "spins")
# Their processes stop borrowing.
STOPPED = ("changes_identity", "registers_sequences")

# Programs whose threads meet in every way; the other ones in `make test-all`.
MEETINGS = ("exclusion", "lifetime", "fork_mutex", "cond_wakeups", "signals", "timed")

pytestmark = [
    pytest.mark.skipif(not LIBRARY.is_file(), reason="only x86-64 can switch stacks"),
    pytest.mark.skipif(
        " fsgsbase " not in Path("/proc/cpuinfo").read_text(), reason="needs FSGSBASE"
    ),
    pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60),
]


def run_case(program: str, case: str, extra: dict[str, str]) -> matrix.Outcome:
    return matrix.run_case(
        program, case, DELEGATE, {**WITHOUT_RSEQ, **extra}, interposer=LIBRARY
    )


def cases() -> list[tuple[str, str]]:
    if not (matrix.PROGRAMS / "borrowed").is_file():
        return []
    programs = ("borrowed", "borrowed_signals")
    return [(program, case) for program in programs for case in matrix.cases(program)]


@pytest.mark.parametrize(("program", "case"), cases())
def test_a_section_that_another_thread_runs(program: str, case: str) -> None:
    native = matrix.run_case(program, case, matrix.NATIVE)
    assert native.status == "passed", native
    always = case not in (*INTERRUPTED, "bombarded", *STOPPED)
    outcome = run_case(program, case, UNINTERRUPTED if always else {})
    assert outcome.status == "passed", outcome


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(name, marks=[] if name in MEETINGS else [pytest.mark.slow])
        for name in matrix.programs()
    ],
)
def test_conformance(program: str) -> None:
    outcomes = [run_case(program, case, {}) for case in matrix.cases(program)]
    matrix.fail_if_any(outcomes, f"{program} under delegate")


@pytest.mark.parametrize("case", ["exceptions", "thread_locals"])
def test_cxx(case: str) -> None:
    outcome = run_case("borrowed_cxx", case, {})
    assert outcome.status == "passed", outcome


@pytest.mark.slow
def test_millions_of_sections() -> None:
    extra = {**WITHOUT_RSEQ, "CHECK_SECTIONS": "2000000"}
    outcome = matrix.run_case(
        "borrowed_cxx", "thread_locals", DELEGATE, extra, 50, LIBRARY
    )
    assert outcome.status == "passed", outcome


@pytest.mark.skipif(
    not (matrix.PROGRAMS / "tsan").is_file(), reason="the compiler has no TSan"
)
def test_thread_sanitizer_runs_without_borrowing() -> None:
    runtime = subprocess.run(
        ["ldd", matrix.PROGRAMS / "tsan"], capture_output=True, text=True, check=False
    ).stdout
    loaded = [word for word in runtime.split() if "/libtsan.so" in word]
    extra = {**WITHOUT_RSEQ, "LD_PRELOAD": str(LIBRARY), "HASP_LOCK": "delegate"}
    if loaded:
        extra["LD_PRELOAD"] = f"{loaded[0]}:{LIBRARY}"
    case = matrix.cases("tsan")[0]
    done = subprocess.run(
        [matrix.PROGRAMS / "tsan", case],
        env={**os.environ, **extra},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sanitizer follows one stack" in done.stderr


def hasp(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hasp", *words],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def test_hasp_run_borrows(tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    program = str(matrix.PROGRAMS / "borrowed")
    done = hasp(
        *("run", "--lock", "delegate", "--", program, "plain"),
        **UNINTERRUPTED,
        HASP_BORROWING_STATISTICS=str(counts),
    )
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(counts.read_text())
    assert record["borrowed"] == 1
    assert record["handed_back"] == record["interrupted"] == 0


def test_the_child_of_a_fork_has_its_own_statistics(tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    program = str(matrix.PROGRAMS / "borrowed")
    done = hasp(
        *("run", "--lock", "delegate", "--", program, "exits_after_fork"),
        **UNINTERRUPTED,
        HASP_BORROWING_STATISTICS=str(counts),
    )
    assert (done.returncode, done.stderr) == (0, "")
    child, parent = map(json.loads, counts.read_text().splitlines())
    assert (child["borrowed"], parent["borrowed"]) == (0, 1)


def test_a_process_with_restartable_sequences_is_told_that_nothing_is_borrowed() -> (
    None
):
    env = matrix.environment(DELEGATE, interposer=LIBRARY)
    done = subprocess.run(
        [matrix.PROGRAMS / "borrowed", "plain"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    version = os.confstr("CS_GNU_LIBC_VERSION") or ""
    if tuple(map(int, version.split()[-1].split("."))) < (2, 35):
        pytest.skip("glibc before 2.35 registers no restartable sequences")
    assert done.returncode == 0
    assert "restartable sequences" in done.stderr


def test_a_host_that_cannot_is_refused(tmp_path: Path) -> None:
    # A hasp-locks that says what one on another processor would say.
    native = tmp_path / "native"
    native.mkdir()
    for name in ("libhasp.so", "libhasp-delegate.so"):
        (native / name).symlink_to(BUILD / "src" / "preload" / name)
    real = BUILD / "src" / "list" / "hasp-locks"
    script = native / "hasp-locks"
    script.write_text(
        '#!/bin/sh\nif [ "$1" = --borrowing ]; then '
        'echo \'{"schema":1,"obstacle":"no FSGSBASE"}\'; else '
        f'exec {real} "$@"; fi\n'
    )
    script.chmod(0o755)
    done = hasp("run", "--lock", "delegate", "--", "true", HASP_NATIVE_DIR=str(native))
    assert done.returncode == 2
    assert "cannot run sections of other threads here: no FSGSBASE" in done.stderr


def test_it_is_never_among_all_locks() -> None:
    done = hasp("list", "--json")
    names = [json.loads(line)["name"] for line in done.stdout.splitlines()]
    assert "delegate" not in names
    assert "delegate" in hasp("list", "delegate").stdout


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.slow
def test_valgrind_runs_without_borrowing() -> None:
    env = matrix.environment(DELEGATE, {**WITHOUT_RSEQ}, interposer=LIBRARY)
    done = subprocess.run(
        ["valgrind", "-q", matrix.PROGRAMS / "exclusion", "two_threads"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "borrows no section" in done.stderr
