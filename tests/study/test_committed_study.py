# SPDX-License-Identifier: MIT
"""The report in docs/studies matches its store, which does not identify its host."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hasp.cli.main import main

STUDY = Path(__file__).parents[2] / "docs/studies/two-cpus"


def test_the_report_matches_the_store(tmp_path):
    """The command that regenerates it is in README.md there."""
    path = tmp_path / "report.md"
    title = "Real programs under every lock, on two CPUs"
    words = ["--metric", "throughput,cpu_s_per_op", "--title", title]
    store = ["--store", str(STUDY / "store"), "--markdown", str(path)]
    assert main(["study", "report", *store, *words]) == 0
    committed = (STUDY / "report.md").read_text()
    assert said(path.read_text()) == said(committed)
    figures = re.findall(r"^!\[.*\]\((.*)\)$", committed, re.MULTILINE)
    assert len(figures) == 10
    assert all((STUDY / figure).is_file() for figure in figures)


def said(text):
    """Return the lines without links to figures, because the test draws no figures."""
    return [line for line in text.splitlines() if line and not line.startswith("!")]


def test_the_provenance_names_no_host():
    (provenance,) = (STUDY / "store/samples").glob("*.json")
    facts = json.loads(provenance.read_text())
    assert facts["machine"] == "two-cpus"
    assert "hostname" not in facts["host"]
    assert not re.search(r"/(home|root|work|tmp)/", provenance.read_text())
