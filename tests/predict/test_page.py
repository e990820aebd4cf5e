# SPDX-License-Identifier: MIT
"""The page of a prediction, as a real browser builds it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from predict_samples import synthetic

from hasp.cli.main import main

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return the document after its scripts have run, and what the browser logged."""
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("Chromium is not installed")
    folder = tmp_path_factory.mktemp("page")
    trace = synthetic().write(folder / "hasp.trace")
    words = ("predict", trace, "--machine", "epyc-2x64", "--threads", "1,16,256")
    page = folder / "page.html"
    made = (*words, "--locks", "mcs", "--html", page, "--json", os.devnull)
    assert main([*map(str, made)]) == 0
    options = ("--headless=new", "--no-sandbox", "--enable-logging=stderr", "--v=0")
    done = subprocess.run(
        [
            chromium,
            *options,
            f"--user-data-dir={folder / 'browser'}",
            "--dump-dom",
            f"file://{page}",
        ],
        capture_output=True,
        text=True,
        timeout=50,
    )
    return done.stdout, done.stderr


def legend(document: str, figure: str) -> list[str]:
    part = document.split(f'<div id="{figure}"')[1].split("</section>")[0]
    return re.findall(r'class="legendtext"[^>]*>([^<]*)<', part)


def test_every_figure_has_its_lines(built: tuple[str, str]) -> None:
    document, _ = built
    # Best first: with two threads on each CPU, the lock whose waiters sleep.
    assert legend(document, "throughput") == ["futex", "mcs"]
    assert legend(document, "busy") == ["server+0x100", "server+0x200"]
    assert legend(document, "gains") == [
        "server+0x100 hold x0.5",
        "server+0x100 split 4",
    ]


def test_the_answer_and_the_load_are_shown(built: tuple[str, str]) -> None:
    document, _ = built
    verdict = document.split('<div id="verdict"')[1].split("</div>")[0]
    assert "With 256 threads on the 128 CPUs of epyc-2x64 (simulated)" in verdict
    assert "worker" in document.split('<table id="roles"')[1].split("</table>")[0]


def test_the_scripts_run_without_an_error(built: tuple[str, str]) -> None:
    _, log = built
    assert [line for line in log.splitlines() if "CONSOLE" in line] == []
