# SPDX-License-Identifier: MIT
"""Doxygen understands the comments of the public headers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Parameters are documented where their names do not say enough.
SETTINGS = """
FILE_PATTERNS = *.h *.hpp
GENERATE_LATEX = NO
GENERATE_HTML = NO
GENERATE_XML = YES
QUIET = YES
EXTRACT_ALL = YES
WARN_IF_INCOMPLETE_DOC = NO
"""


def warnings(headers: Path, folder: Path) -> str:
    settings = folder / "Doxyfile"
    places = f'INPUT = "{headers}"\nINCLUDE_PATH = "{ROOT}/src" "{ROOT}/include"\n'
    settings.write_text(f'{SETTINGS}{places}OUTPUT_DIRECTORY = "{folder}"\n')
    done = subprocess.run(["doxygen", settings], capture_output=True, text=True)
    return done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("doxygen"), reason="needs doxygen")
def test_the_comments_are_understood(tmp_path: Path) -> None:
    assert warnings(ROOT / "include/hasp", tmp_path) == ""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("doxygen"), reason="needs doxygen")
def test_a_wrong_parameter_is_noticed(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.mkdir()
    text = "/** @file */\n/** Adds one.\n * @param nmber it */\nint add(int number);\n"
    (headers / "wrong.h").write_text(text)
    assert "nmber" in warnings(headers, tmp_path)


def test_every_header_has_comments_for_it() -> None:
    for header in (ROOT / "include/hasp").glob("*.h*"):
        assert "/**\n * @file\n" in header.read_text(encoding="utf-8"), header.name
