# SPDX-License-Identifier: MIT
"""The journal of a campaign's runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.study.journal import Journal


def test_two_studies_do_not_make_the_same_runs_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journals" / "host.jsonl"
    first = Journal(path, alone=True)
    with pytest.raises(HaspError, match="another `hasp study run` is writing"):
        Journal(path, alone=True)
    Journal(path).close()  # `hasp study plan` shows the progress meanwhile
    first.close()
    Journal(path, alone=True).close()
