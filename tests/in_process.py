# SPDX-License-Identifier: MIT
"""A fixture that runs `hasp` in the process of the test."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def hasp(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Callable[..., tuple[int, str, str]]:
    """Return hasp(*words), which returns exit status, stdout and stderr."""
    from hasp.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "COLUMNS", "80")

    def run(*words: object) -> tuple[int, str, str]:
        status = main([*map(str, words)])
        out, err = capsys.readouterr()
        return status, out, err

    return run
