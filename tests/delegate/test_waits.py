# SPDX-License-Identifier: MIT
"""Sections that wait on condition variables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from delegate_samples import compile_and_run, delegate, write_database
from tree import ROOT

pytest.importorskip("clang.cindex")

SOURCE = ROOT / "tests/delegate/queue.c"


def program(folder: Path, old: str = "", new: str = "") -> Path:
    """Return queue.c with a replacement in a folder, where it has a database."""
    text = SOURCE.read_text()
    assert old in text
    made = folder / "queue.c"
    made.write_text(text.replace(old, new))
    write_database(folder, "queue.c")
    return made


@pytest.mark.parametrize("executor", ["lock:futex", "rcl"])
def test_waits_are_rewritten(tmp_path: Path, executor: str) -> None:
    program(tmp_path)
    options = ("--in-place", "--executor", executor)
    assert delegate(tmp_path, *options, lock="mu", compiles=executor == "rcl") == 0
    assert "pthread_cond_" not in (tmp_path / "queue.c").read_text()
    assert compile_and_run(tmp_path / "queue.c") == "80200 403\n"


@pytest.mark.parametrize(
    ("executor", "old", "new", "words"),
    [
        (
            "adaptive",
            "",
            "",
            "queue.c:18: waits on a condition variable, which adaptive",
        ),
        (
            "rcl",
            "static long items",
            "static pthread_cond_t *also = &not_full;\nstatic long items",
            "queue.c:12: not_full is used other than by functions of condition",
        ),
        (
            "rcl",
            "    pthread_mutex_lock(&mu);\n    while (count == C",
            "    while (count == C",
            "waits outside of the lock's sections",
        ),
    ],
    ids=["executor", "address", "outside"],
)
def test_waits_that_cannot_be_rewritten(
    executor: str,
    old: str,
    new: str,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program(tmp_path, old, new)
    shutil.copy(tmp_path / "queue.c", tmp_path / "before")
    options = ("--in-place", "--executor", executor)
    assert delegate(tmp_path, *options, lock="mu") == 2
    assert words in capsys.readouterr().err
    assert (tmp_path / "queue.c").read_text() == (tmp_path / "before").read_text()


MACROS = """#include <stdlib.h>
#include <time.h>
#define MUTEX pthread_mutex_t
#define CONDITION pthread_cond_t
#define WAIT(c, m) ((void)(pthread_cond_wait((c), (m)) && (abort(), 0)))
#define TIMED(time, m, c) pthread_cond_timedwait(c, m, time)
#define SIGNAL(c) pthread_cond_signal(c)
#define BROADCAST(c) \\
    ((void)(pthread_cond_broadcast(c) && (abort(), 0)))
#define CREATE(c) pthread_cond_init((c), NULL)
"""
USES = {
    "pthread_mutex_t mu": "MUTEX mu",
    "static pthread_cond_t not": "static CONDITION not",
    "pthread_cond_wait(": "WAIT(",
    "pthread_cond_timedwait(&not_empty, &mu, &until)": "TIMED(&until, &mu, &not_empty)",
    "pthread_cond_signal": "SIGNAL",
    "pthread_cond_broadcast": "BROADCAST",
    "pthread_cond_init(&not_empty, NULL)": "CREATE(&not_empty)",
    "#include <time.h>\n": MACROS,
}


def write_with_macros(folder: Path, old: str = "", new: str = "") -> None:
    """Write queue.c with macros, one of which is replaced."""
    made = program(folder)
    text = made.read_text()
    for plain, macro in USES.items():
        assert plain in text
        text = text.replace(plain, macro)
    assert old in text
    made.write_text(text.replace(old, new) if old else text)


def test_macros_that_only_pass_their_parameters_on(tmp_path: Path) -> None:
    write_with_macros(tmp_path)
    options = ("--in-place", "--executor", "rcl")
    assert delegate(tmp_path, *options, lock="mu", compiles=True) == 0
    text = (tmp_path / "queue.c").read_text()
    assert "((void)(hasp_delegate_wait(&mu, &not_full) && (abort(), 0)))" in text
    assert "hasp_delegate_timedwait(&mu, &not_empty, &until)" in text
    assert compile_and_run(tmp_path / "queue.c") == "80200 403\n"


@pytest.mark.parametrize(
    "body",
    [
        "(void)(pthread_cond_wait((c), (m)) && (puts((c) ? #c : #m), 0))",
        "pthread_cond_wait((c), (m) + 0)",
        "(pthread_cond_wait(c, m), pthread_cond_wait(c, m))",
    ],
)
def test_macros_that_do_more(
    body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = "((void)(pthread_cond_wait((c), (m)) && (abort(), 0)))"
    write_with_macros(tmp_path, known, body)
    assert delegate(tmp_path, "--executor", "rcl", lock="mu") == 2
    printed = capsys.readouterr().err
    assert "not_full is passed to a macro that calls pthread_cond_wait()" in printed
    assert "only passes its parameters on" in printed
