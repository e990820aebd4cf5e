# SPDX-License-Identifier: MIT
"""Fixtures that run `hasp report` on synthetic profiles instead of traces."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import profile_samples
import pytest

from hasp.cli.main import main
from hasp.profile.model.profile import Profile
from hasp.profile.report import source


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return traces(name, profile), which makes a file that is read as the profile."""
    known: dict[Path, Profile] = {}

    def load(path: Path) -> Profile:
        return known[path.resolve()]

    def make(name: str, profile: Profile) -> Path:
        path = tmp_path / name
        path.write_text("stands for a trace")
        known[path.resolve()] = profile
        return path

    monkeypatch.setattr(source, "load", load)
    return make


@pytest.fixture
def report(traces, capsys, monkeypatch, tmp_path):
    """Return report(profile, *words), which returns exit status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "COLUMNS", "80")

    def run(sample, *words):
        made = sample
        if isinstance(sample, str):
            made = profile_samples.SAMPLES[sample]()
        path = traces("hasp.trace", made)
        status = main(["report", *map(str, words), str(path)])
        out, err = capsys.readouterr()
        return status, out, err

    return run
