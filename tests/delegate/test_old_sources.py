# SPDX-License-Identifier: MIT
"""Sources written for old compilers, beside libraries of other folders."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from delegate_samples import SITE, compile_and_run, delegate, write_program

import hasp.delegate.delegate as delegating

pytest.importorskip("clang.cindex")

# As in HMMER 2: results are kept and checked, and a thread ends after the unlock.
# next_number() is used before it is declared, a pointer is an integer.
COUNTER = """\
static void *work(void *limit)
{
    int rc;
    for (;;) {
        if ((rc = pthread_mutex_lock(&mu)) != 0)
            exit(rc);
        if (count == (long)limit) {
            if ((rc = pthread_mutex_unlock(&mu)) != 0)
                exit(rc);
            pthread_exit(limit);
        }
        count = next_number(count);
        if ((rc = pthread_mutex_unlock(&mu)) != 0)
            exit(rc);
    }
}

int next_number(int number)
{
    return number + 1;
}

int main(void)
{
    pthread_t thread;
    void *ended = 0;
    pthread_create(&thread, NULL, work, (void *)9L);
    pthread_join(thread, &ended);
    long result = ended;
    printf("%ld %ld\\n", count, result);
    return 0;
}
"""


def test_what_gcc_only_warns_about_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_program(tmp_path, db=COUNTER)
    before = compile_and_run(tmp_path / "db.c", "-fpermissive")
    assert delegate(tmp_path, "--in-place") == 0
    text = (tmp_path / "db.c").read_text()
    assert "pthread_mutex_lock" not in text
    assert text.count("pthread_exit(limit)") == 1
    assert compile_and_run(tmp_path / "db.c", "-fpermissive") == before == "9 9\n"


def test_headers_of_a_library_are_not_below_the_program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    library = tmp_path / "usr/include/library"
    library.mkdir(parents=True)
    (library / "library.h").write_text("int use(void);\n")
    monkeypatch.setattr(delegating, "INSTALLED", tmp_path / "usr")
    program = tmp_path / "program"
    program.mkdir()
    monkeypatch.chdir(program)
    section = "void f(void) { pthread_mutex_lock(&mu); count++; "
    section += "pthread_mutex_unlock(&mu); }\n"
    write_program(program, db=section)
    text = f'#include "{library}/library.h"\n' + (program / "db.c").read_text()
    (program / "db.c").write_text(text)
    assert delegate(program, "--diff", lock=SITE.replace("5", "6")) == 0
    patch = capsys.readouterr().out
    done = subprocess.run(["patch", "-p1"], input=patch, text=True, cwd=program)
    assert done.returncode == 0
    assert (program / "db.c").read_text() != text
