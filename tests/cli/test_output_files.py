# SPDX-License-Identifier: MIT
"""Tests output files on a full disk, and verbs whose optional packages are missing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.base.extras import EXTRAS
from hasp.base.files import replacing, write_file

ROOT = Path(__file__).resolve().parents[2]

# Runs `hasp` as if the modules in the first argument were not installed.
WITHOUT = """
import runpy, sys

missing = sys.argv.pop(1).split(",")

class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"no {name}", name=name)

sys.meta_path.insert(0, Missing)
runpy.run_module("hasp", run_name="__main__")
"""


@pytest.fixture
def full_disk(tmp_path):
    """Return a folder on a file system of one page, which is full after a few bytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "hasp-test", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system is not permitted")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_leaves_the_old_file(full_disk):
    file = full_disk / "report.html"
    file.write_text("old")
    with pytest.raises(HaspError, match="No space left"):
        write_file(file, "new" * 9000)
    assert file.read_text() == "old"
    assert [path.name for path in full_disk.iterdir()] == ["report.html"]


def test_a_full_disk_under_a_verb(cli, full_disk):
    file = full_disk / "locks.json"
    (full_disk / "filler").write_bytes(bytes(4096))
    done = cli("list", "--json", file)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert not file.exists()


def test_a_file_that_is_replaced_keeps_its_mode_and_its_links(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to("file")
    write_file(link, "new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o640)
    assert link.is_symlink()


def test_an_exception_leaves_the_old_file(tmp_path):
    file = tmp_path / "file"
    file.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(file) as new:
        new.write_text("half")
        _ = 1 // 0
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_pipe_is_written_in_place(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        write_file(pipe, "words")
        assert reader.communicate(timeout=20)[0] == "words"


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("report", "report --html x.html"),
        ("report", "compare --plot x.png -- true"),
        ("report", "bench locks --plot x.png"),
        ("report", "bench messages --plot x.png"),
        ("report", "bench hash-table --plot x.png"),
        ("report", "bench transactions --plot x.png"),
        ("report", "machine --plot x.png"),
        ("study", "compare -- true"),
        ("study", "diff a.trace b.trace"),
        ("study", "advise -- true"),
    ],
)
def test_a_missing_extra_is_named_before_any_work(environment, tmp_path, extra, words):
    missing = ",".join(module.partition(".")[0] for module in EXTRAS[extra])
    (tmp_path / "hasp.trace").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, missing, *words.split()],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 2, done.stderr
    assert f"pip install 'hasp[{extra}]'" in done.stderr


def test_extras_are_those_of_the_package():
    text = (ROOT / "pyproject.toml").read_text()
    for extra, modules in EXTRAS.items():
        (line,) = (one for one in text.splitlines() if one.startswith(f"{extra} = ["))
        for module in modules:
            assert module.removeprefix("google.") in line
