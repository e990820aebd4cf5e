# SPDX-License-Identifier: MIT
"""The examples of the documentation print what the pages show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/doc_examples.py"
PAGES = [
    page
    for page in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
    if "<!-- example" in page.read_text()
]


def tool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, TOOL, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def write(folder: Path, *lines: str) -> Path:
    page = folder / "page.md"
    page.write_text("\n".join(lines) + "\n")
    return page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.timeout(600)
def test_examples_print_what_the_page_shows(page: Path) -> None:
    checked = tool(page)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.timeout(600)
def test_slow_examples_print_what_the_page_shows(page: Path) -> None:
    checked = tool("--slow", page)
    assert checked.returncode == 0, checked.stderr


def test_figures_may_change_but_words_may_not(tmp_path: Path) -> None:
    block = ["```console", "$ echo waits 3.1 ms", "waits 2.5 us", "```"]
    assert tool(write(tmp_path, "<!-- example -->", *block)).returncode == 0
    block[2] = "holds 2.5 us"
    changed = tool(write(tmp_path, "<!-- example -->", *block))
    assert changed.returncode == 1
    assert "echo waits" in changed.stderr


def test_rewrites_output_and_keeps_the_text(tmp_path: Path) -> None:
    page = write(
        tmp_path,
        "Text before.",
        "<!-- prepare: printf 'a\\nb\\nc\\n' > f -->",
        "<!-- example: head=2 -->",
        "```console",
        "$ cat \\",
        "    f",
        "old",
        "```",
        "<!-- example: slow -->",
        "```console",
        "$ false",
        "kept",
        "```",
    )
    assert tool("--write", page).returncode == 0
    lines = page.read_text().splitlines()
    assert lines[3:9] == ["```console", "$ cat \\", "    f", "a", "b", "..."]
    assert lines[0] == "Text before."
    assert "kept" in lines


def test_a_mark_without_a_block_is_refused(tmp_path: Path) -> None:
    refused = tool(write(tmp_path, "<!-- example -->", "text"))
    assert refused.returncode == 2
    assert "page.md:1: no console block follows" in refused.stderr


def test_lines_may_break_elsewhere_but_words_may_not_change(tmp_path: Path) -> None:
    block = [
        "<!-- example -->",
        "```console",
        "$ printf 'pid 7, lock glibc,\\nfull\\n'",
    ]
    same = write(tmp_path, *block, "pid 12345, lock", "glibc, full", "```")
    assert tool(same).returncode == 0
    changed = write(tmp_path, *block, "pid 12345, lock", "mcs, full", "```")
    assert tool(changed).returncode == 1


def test_an_example_without_its_program_is_left_out(tmp_path: Path) -> None:
    page = write(
        tmp_path,
        "<!-- prepare: exit 1 -->",
        "<!-- example: needs=no-such-program,sh -->",
        "```console",
        "$ no-such-program",
        "its output",
        "```",
    )
    checked = tool(page)
    assert checked.returncode == 0
    assert checked.stderr == f"{page}:3: left out without no-such-program\n"
    assert tool("--write", page).returncode == 0
    assert "its output" in page.read_text()


def test_a_preparation_that_fails_is_an_error(tmp_path: Path) -> None:
    block = ["<!-- example -->", "```console", "$ true", "```"]
    failed = tool(write(tmp_path, "<!-- prepare: echo no tcl; exit 1 -->", *block))
    assert failed.returncode == 2
    assert "no tcl" in failed.stderr
