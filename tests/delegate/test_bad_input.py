# SPDX-License-Identifier: MIT
"""Input that cannot be used: a clear message, and untouched sources."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from delegate_samples import PROLOGUE, delegate, write_database, write_program

from hasp.cli.main import main

pytest.importorskip("clang.cindex")

SECTION = (
    "void f(void)\n{\n    pthread_mutex_lock(&mu);\n    count++;\n"
    "    pthread_mutex_unlock(&mu);\n}\n"
)


def refused(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    *options: str,
    lock: str = "mu",
    compiles: bool = False,
) -> str:
    """Return the message with which nothing is rewritten."""
    texts = {path: path.read_text() for path in folder.glob("*.c")}
    words = ("--in-place", *options)
    assert delegate(folder, *words, lock=lock, compiles=compiles) == 2
    assert {path: path.read_text() for path in folder.glob("*.c")} == texts
    return capsys.readouterr().err


def test_no_compile_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = refused(tmp_path, capsys)
    assert "compile_commands.json: No such file" in printed
    assert "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON" in printed


def test_the_database_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["delegate", "--lock", "mu"]) == 2
    printed = capsys.readouterr().err
    assert "there is no compile_commands.json here or in build/" in printed
    assert "bear -- make" in printed
    write_program(tmp_path, db=SECTION)
    assert main(["delegate", "--lock", "mu"]) == 0
    (tmp_path / "build").mkdir()
    (tmp_path / "compile_commands.json").rename("build/compile_commands.json")
    assert main(["delegate", "--lock", "mu"]) == 0
    assert main(["delegate"]) == 2
    assert "no lock is named" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{", '{"a": 1}', "[3]", '[{"file": "a.c"}]', "[]"])
def test_a_damaged_compile_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    printed = refused(tmp_path, capsys)
    assert "is not a compile database" in printed or "names no source files" in printed


def test_a_compile_database_with_files_that_do_not_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, db=SECTION)
    write_database(tmp_path, "db.c", "gone.c")
    assert "gone.c" in refused(tmp_path, capsys)


def test_a_compile_database_that_misses_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = PROLOGUE.replace("static pthread", "pthread")
    write_program(tmp_path, db=shared + SECTION)
    (tmp_path / "other.c").write_text(
        "#include <pthread.h>\nextern pthread_mutex_t mu;\n"
        "void g(void) { pthread_mutex_lock(&mu); }\n"
    )
    printed = refused(tmp_path, capsys)
    assert "other.c:2: mentions mu, and the compile database lacks the file" in printed
    assert delegate(tmp_path, "--ignore", str(tmp_path / "other.c"), lock="mu") == 0


def test_a_lock_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, db=SECTION)
    printed = refused(tmp_path, capsys, lock="db.c:6")
    assert "there is no pthread_mutex_t at db.c:6" in printed
    assert "the locks are db.c:5 mu" in printed
    assert "of the name queue" in refused(tmp_path, capsys, lock="queue")
    assert "names no lock" in refused(tmp_path, capsys, lock="&*")
    assert "name a line of it, db.c:LINE" in refused(tmp_path, capsys, lock="db.c")


def test_a_name_of_several_locks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, db=SECTION, db2=SECTION)
    printed = refused(tmp_path, capsys)
    assert "mu may be any of db.c:5 mu, db2.c:5 mu" in printed


def test_a_source_that_does_not_compile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, db=SECTION + "int broken(\n")
    printed = refused(tmp_path, capsys)
    assert "db.c:1" in printed
    assert "does not compile" in printed


def test_a_lock_without_sections(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, db="long f(void) { return count; }\n")
    assert "no section of the lock" in refused(tmp_path, capsys)


def test_an_executor_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, db=SECTION)
    printed = refused(tmp_path, capsys, "--executor", "adaptiv")
    assert "did you mean adaptive?" in printed
    assert "lock" in refused(tmp_path, capsys, "--executor", "lock:nosuch")


def test_a_compiler_that_is_not_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, db=SECTION)
    database = tmp_path / "compile_commands.json"
    entries = json.loads(database.read_text())
    entries[0]["arguments"][0] = "no-such-compiler"
    database.write_text(json.dumps(entries))
    assert "no-such-compiler is not installed" in refused(
        tmp_path, capsys, compiles=True
    )


def test_libclang_is_not_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(tmp_path, db=SECTION)
    real = sys.modules["hasp.base.extras"].find_spec
    monkeypatch.setattr(
        "hasp.base.extras.find_spec",
        lambda name: None if name == "clang" else real(name),
    )
    assert "pip install 'hasp[delegate]'" in refused(tmp_path, capsys)
