# SPDX-License-Identifier: MIT
"""Where the rewritten source goes, and that nothing else changes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from delegate_samples import (
    PROLOGUE,
    SITE,
    compile_and_run,
    delegate,
    write_database,
    write_program,
)

from hasp.locks.library import settings

pytest.importorskip("clang.cindex")

COUNTER = """\
static long add(long by)
{
    long sum;
    pthread_mutex_lock(&mu);
    count += by;
    sum = count;
    pthread_mutex_unlock(&mu);
    return sum;
}

int main(void)
{
    errno = 7;
    printf("%ld\\n", add(1) + add(2));
    pthread_mutex_lock(&mu); if (errno == 7) { errno = 8; } pthread_mutex_unlock(&mu);
    printf("%d\\n", errno);
    return pthread_mutex_destroy(&mu);
}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with db.c, as the current one."""
    monkeypatch.chdir(tmp_path)
    write_program(tmp_path, db=COUNTER)
    return tmp_path


def test_the_report_says_how_locals_are_passed(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert delegate(program) == 0
    printed = capsys.readouterr().out
    assert "db.c:5 mu: 2 sections, executor adaptive" in printed
    assert "by value: by" in printed
    assert "by address, copied in and out: sum" in printed
    assert "Nothing has been changed: --diff shows the patch." in printed


def test_a_diff_is_a_patch_that_applies(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = compile_and_run(program / "db.c")
    assert delegate(program, "--diff") == 0
    patch = capsys.readouterr().out
    original = (program / "db.c").read_text()
    done = subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=program)
    assert done.returncode == 0
    assert (program / "db.c").read_text() != original
    assert compile_and_run(program / "db.c") == before == "4\n8\n"


def test_out_writes_the_changed_files_elsewhere(program: Path) -> None:
    original = (program / "db.c").read_text()
    assert delegate(program, "--out", "new/folder", "--executor", "cc-synch") == 0
    assert (program / "db.c").read_text() == original
    made = program / "new/folder/db.c"
    assert 'hasp_delegate_init(&mu, "cc-synch")' in made.read_text()
    assert compile_and_run(made) == "4\n8\n"
    # A copy in the program's folder is not taken for a part of it.
    assert delegate(program, "--out", "newer", "--no-compile") == 0


def test_in_place_keeps_the_original_beside_the_source(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = (program / "db.c").read_text()
    assert delegate(program, "--in-place") == 0
    assert (program / "db.c.orig").read_text() == original
    assert "struct hasp_delegate mu" in (program / "db.c").read_text()
    assert "the original is db.c.orig" in capsys.readouterr().err
    # Once more: the lock is not there any longer.
    assert delegate(program, "--in-place") == 2
    assert "is delegated already" in capsys.readouterr().err


def test_in_place_refuses_to_replace_a_backup(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (program / "db.c.orig").write_text("mine")
    original = (program / "db.c").read_text()
    assert delegate(program, "--in-place") == 2
    assert "db.c.orig exists" in capsys.readouterr().err
    assert (program / "db.c").read_text() == original
    assert (program / "db.c.orig").read_text() == "mine"


def test_in_place_relies_on_git_for_committed_files_only(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *words], cwd=program, check=True)

    git("init", "-q")
    git("add", "db.c")
    git("commit", "-qm", "first")
    (program / "db.c").write_text((program / "db.c").read_text() + "/* new */\n")
    original = (program / "db.c").read_text()
    assert delegate(program, "--in-place") == 2
    assert "has changes that are not committed" in capsys.readouterr().err
    assert (program / "db.c").read_text() == original
    git("commit", "-qam", "second")
    assert delegate(program, "--in-place") == 0
    assert not (program / "db.c.orig").exists()


def test_nothing_changes_if_one_file_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_program(tmp_path, db=COUNTER)
    (tmp_path / "db.c.orig").mkdir()
    original = (tmp_path / "db.c").read_text()
    assert delegate(tmp_path, "--in-place") == 2
    assert (tmp_path / "db.c").read_text() == original
    assert not list(tmp_path.glob(".hasp-*"))


def test_json_describes_each_section(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert delegate(program, "--json") == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["line"] for record in records] == [10, 21]
    first = records[0]
    assert first["schema"] == "hasp.delegate/1"
    assert first["lock"] == "mu"
    assert first["function"] == "add"
    assert first["captures"] == [
        {"name": "by", "passing": "value", "written": False},
        {"name": "sum", "passing": "copy", "written": True},
    ]
    assert first["exits"] == []
    assert first["files"] == ["db.c"]


def test_a_member_is_rewritten_in_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "db.h").write_text(
        "#ifndef DB_H\n#define DB_H\n#include <pthread.h>\n"
        "struct db {\n    pthread_mutex_t mu;\n    long count;\n};\n"
        "static inline void db_add(struct db *db)\n{\n"
        "    pthread_mutex_lock(&db->mu);\n    db->count++;\n"
        "    pthread_mutex_unlock(&db->mu);\n}\nlong db_count(struct db *db);\n"
        "void db_open(struct db *db);\n#endif\n"
    )
    (tmp_path / "db.c").write_text(
        '#include "db.h"\nlong db_count(struct db *db)\n{\n    long count;\n'
        "    pthread_mutex_lock(&db->mu);\n    count = db->count;\n"
        "    pthread_mutex_unlock(&db->mu);\n    return count;\n}\n"
        "void db_open(struct db *db)\n{\n    pthread_mutex_init(&db->mu, NULL);\n}\n"
    )
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "db.h"\nint main(void)\n{\n'
        "    struct db db = {.count = 4};\n    db_open(&db);\n    db_add(&db);\n"
        '    printf("%ld\\n", db_count(&db));\n    return 0;\n}\n'
    )
    write_database(tmp_path, "db.c", "main.c")
    assert delegate(tmp_path, "--out", "out", lock="db.h:5") == 0
    made = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert made == ["db.c", "db.h"]
    (tmp_path / "out/main.c").write_text((tmp_path / "main.c").read_text())
    assert compile_and_run(tmp_path / "out/main.c", str(tmp_path / "out/db.c")) == "5\n"


def test_messages_about_the_copy_name_the_lines_of_the_original(
    program: Path,
) -> None:
    assert delegate(program, "--out", "out") == 0
    made = program / "out/db.c"
    for text in ("sum = count;", "return sum;", "errno = 8;", "return pthread"):
        line = COUNTER[: COUNTER.index(text)].count("\n") + PROLOGUE.count("\n") + 1
        copy = made.read_text()
        text = text.replace("pthread", "(hasp")
        assert text in copy
        wrong = copy.replace(text, f"unknown_name; {text}")
        words = ["gcc", "-fsyntax-only", *settings()["cflags"].split(), "-xc", "-"]
        done = subprocess.run(words, input=wrong, capture_output=True, text=True)
        assert f"db.c:{line}:" in done.stderr


@pytest.mark.parametrize(
    ("status", "words"), [("0", "check with adaptive: ok"), ("1", "nothing has been")]
)
def test_check_runs_the_tests_with_each_executor(
    program: Path, capsys: pytest.CaptureFixture[str], status: str, words: str
) -> None:
    original = (program / "db.c").read_text()
    command = (
        "cc -w $HASP_CFLAGS db.c $HASP_LIBS -o db && test $(./db | head -1) = 4 && "
        f"{{ test $HASP_EXECUTOR != adaptive || exit {status}; }}"
    )
    assert delegate(program, "--in-place", "--check", command) == int(status)
    printed = capsys.readouterr().out
    assert "check with unchanged: ok" in printed
    for executor in ("lock:futex", "rcl", "rcl:1"):
        assert f"check with {executor}: ok" in printed
    assert words in printed
    changed = (program / "db.c").read_text() != original
    assert changed == (status == "0")
    assert not (program / "db").exists()


def test_check_refuses_tests_that_fail_before(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert delegate(program, "--in-place", "--check", "echo broken; exit 3") == 2
    printed = capsys.readouterr().err
    assert "fails with the unchanged source" in printed
    assert "broken" in printed
    assert delegate(program, "--in-place", "--check", "exit 3") == 2
    assert "" not in capsys.readouterr().err.splitlines()
    assert not (program / "db.c.orig").exists()


def test_a_new_warning_is_refused(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_database(program, "db.c", options="-Wmissing-prototypes -Wunused-macros")
    assert delegate(program, compiles=True) == 0
    write_database(program, "db.c", options="-Wredundant-decls -Wtraditional")
    original = (program / "db.c").read_text()
    assert delegate(program, "--in-place", compiles=True) == 2
    assert "the compiler warns of something new" in capsys.readouterr().err
    assert (program / "db.c").read_text() == original


def test_the_lock_may_be_named_without_its_line(program: Path) -> None:
    assert delegate(program, lock="mu") == 0
    assert delegate(program, lock="db.c:10") == 0
    assert delegate(program, lock=f"{SITE} &mu") == 0


def test_a_lock_of_an_array_may_be_named_with_its_index(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(
        tmp_path,
        db="#include <pthread.h>\nstatic pthread_mutex_t rows[4];\nstatic long n[4];\n"
        "void f(int i)\n{\n    pthread_mutex_lock(&rows[i]);\n    n[i]++;\n"
        "    pthread_mutex_unlock(&rows[i]);\n}\nvoid g(int i)\n{\n"
        "    pthread_mutex_init(&rows[i], NULL);\n}\n",
    )
    assert delegate(tmp_path, lock="&rows[i]") == 0
    assert "db.c:2 rows: 1 section" in capsys.readouterr().out
