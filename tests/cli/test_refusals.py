# SPDX-License-Identifier: MIT
"""Programs that `hasp run` refuses, with status 2, a reason and a remedy."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import pytest

from .conftest import compile_c, make_executable

MAIN = "int main(void) { return 0; }"


def refused(cli, *words, **extra):
    """Return the message of a refusal, after checking that nothing has run."""
    finished = cli("run", "--lock", "mcs", *words, **extra)
    assert finished.returncode == 2, finished.stderr
    assert finished.stdout == ""
    message, remedy = finished.stderr.split("\n", 1)
    assert message.startswith("hasp: ")
    assert remedy.strip(), "a refusal has to name a remedy"
    assert "Traceback" not in finished.stderr
    return finished.stderr


@pytest.fixture
def program(tmp_path) -> Path:
    return compile_c(MAIN, tmp_path / "program")


def patched(path: Path, place: int, data: bytes) -> Path:
    content = bytearray(path.read_bytes())
    content[place : place + len(data)] = data
    path.write_bytes(content)
    return path


def with_loader(path: Path, loader: bytes) -> Path:
    """Return a copy of the program with another loader."""
    content = path.read_bytes()
    place = content.index(b"/ld-linux") - len(b"/lib64")
    end = content.index(b"\0", place)
    assert len(loader) <= end - place
    return patched(path, place, loader.ljust(end - place, b"\0"))


def test_the_untouched_program_runs(cli, program):
    assert cli("run", "--lock", "mcs", "--", program).returncode == 0


@pytest.mark.parametrize("word", ["msc", "MCS", "mcs-prak", "futx"])
def test_an_unknown_lock_suggests_the_nearest(cli, word):
    finished = cli("run", "--lock", word, "--", "true")
    assert finished.returncode == 2
    assert f"no lock called '{word}'" in finished.stderr
    near = {"futx": "futex", "mcs-prak": "mcs-park"}.get(word, "mcs")
    assert "did you mean" in finished.stderr
    assert near in finished.stderr


def test_a_lock_with_no_similar_name(cli):
    finished = cli("run", "--lock", "zzzzzz", "--", "true")
    assert finished.returncode == 2
    assert "did you mean" not in finished.stderr
    assert "hasp list" in finished.stderr


def test_static(cli, tmp_path):
    path = compile_c(MAIN, tmp_path / "program", "-static")
    assert "statically linked" in refused(cli, path)


def test_static_pie(cli, tmp_path):
    path = compile_c(MAIN, tmp_path / "program", "-static-pie")
    assert "statically linked" in refused(cli, path)


def test_set_user_id(cli, program):
    program.chmod(0o4755)
    assert "set-user-ID" in refused(cli, program)


def test_set_group_id(cli, program):
    program.chmod(0o2755)
    assert "set-group-ID" in refused(cli, program)


def test_file_capabilities(cli, program):
    # The attribute has version 2, with cap_net_bind_service effective.
    value = struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0)
    try:
        os.setxattr(program, "security.capability", value)
    except OSError as problem:
        pytest.skip(f"capabilities cannot be set here: {problem.strerror}")
    assert "file capabilities" in refused(cli, program)


def test_32_bit(cli, program):
    patched(program, 4, b"\x01")
    assert "32-bit" in refused(cli, program)


def test_another_architecture(cli, program):
    patched(program, 18, struct.pack("<H", 243))
    assert "RISC-V" in refused(cli, program)


def test_musl(cli, program):
    with_loader(program, b"/lib/ld-musl-x86_64.so.1")
    assert "linked against musl" in refused(cli, program)


def test_another_c_library(cli, program):
    with_loader(program, b"/system/bin/linker64")
    assert "not linked against glibc" in refused(cli, program)


def test_a_missing_loader(cli, program):
    with_loader(program, b"/lib64/ld-linux-none.so.2")
    assert "not on this machine" in refused(cli, program)


def test_an_object_file(cli, tmp_path):
    path = compile_c(MAIN, tmp_path / "program.o", "-c")
    path.chmod(0o755)
    assert "not a program" in refused(cli, path)


def test_a_damaged_file(cli, program):
    program.write_bytes(program.read_bytes()[:40])
    assert "damaged" in refused(cli, program)


def test_missing(cli, tmp_path):
    assert "no program called 'no-such-program'" in refused(cli, "no-such-program")
    assert "No such file" in refused(cli, tmp_path / "none")


def test_a_program_in_this_folder_is_suggested(cli, program):
    assert "./program" in refused(cli, "program")


def test_not_executable(cli, program):
    program.chmod(0o644)
    assert "not executable" in refused(cli, program)
    assert "chmod +x" in refused(cli, program)


def test_a_folder(cli, tmp_path):
    assert "is a folder" in refused(cli, tmp_path)


def test_neither_program_nor_script(cli, tmp_path):
    path = make_executable(tmp_path / "text", "echo no first line\n")
    assert "neither" in refused(cli, path)


def test_an_empty_file(cli):
    assert "which program" in cli("run").stderr
    assert cli("run").returncode == 2


def test_a_script_of_a_static_interpreter(cli, tmp_path):
    interpreter = compile_c(MAIN, tmp_path / "interpreter", "-static")
    script = make_executable(tmp_path / "job", f"#!{interpreter}\n")
    assert "statically linked" in refused(cli, script)


def test_a_script_of_a_static_interpreter_through_env(cli, tmp_path, environment):
    compile_c(MAIN, tmp_path / "interpreter", "-static")
    script = make_executable(tmp_path / "job", "#!/usr/bin/env interpreter\n")
    path = f"{tmp_path}:{environment['PATH']}"
    assert "statically linked" in refused(cli, script, PATH=path)


def test_a_script_whose_interpreter_is_missing(cli, tmp_path):
    script = make_executable(tmp_path / "job", "#!/nowhere/sh\n")
    assert "/nowhere/sh" in refused(cli, script)
    script = make_executable(tmp_path / "job", "#!/usr/bin/env nowhere-sh\n")
    assert "nowhere-sh" in refused(cli, script)


def test_a_script_that_interprets_itself(cli, tmp_path):
    path = tmp_path / "job"
    make_executable(path, f"#!{path}\n")
    assert "too deeply nested" in refused(cli, path)


def test_a_script_that_drops_the_environment(cli, tmp_path):
    script = make_executable(tmp_path / "job", "#!/usr/bin/env -i sh\n")
    assert "removes LD_PRELOAD" in refused(cli, script)


def test_a_library_that_the_loader_rejects(cli, stand_in, tmp_path):
    # The program needs a symbol version that this C library lacks.
    broken = tmp_path / "native"
    shutil.copytree(stand_in, broken)
    library = broken / "libhasp.so"
    content = library.read_bytes().replace(b"GLIBC_2.2.5\0", b"GLIBC_9.9.9\0")
    library.write_bytes(content)
    assert "rejects Hasp's library" in refused(cli, "true", HASP_NATIVE_DIR=str(broken))


def test_an_incomplete_installation(cli, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "install Hasp again" in refused(cli, "true", HASP_NATIVE_DIR=str(empty))


def test_every_program_runs_natively(cli, tmp_path):
    path = compile_c(MAIN, tmp_path / "program", "-static")
    assert cli("run", "--lock", "glibc", "--", path).returncode == 0
