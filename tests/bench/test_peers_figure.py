# SPDX-License-Identifier: MIT
"""The figures of `hasp bench messages`, `hash-table` and `transactions`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hasp.cli.main import main
from hasp.lab.bench import interleaved
from hasp.lab.bench.messages import LINE
from hasp.lab.bench.peers_figure import (
    AHEAD,
    BEHIND,
    HASP,
    UNCLEAR,
    Form,
    Panel,
    Picture,
    draw_picture,
    figure_text,
    standing,
)
from hasp.statistics.ratio import Ratio, interval_of_median

DATA = Path(__file__).resolve().parents[2] / "docs/data"
TOPICS = ("messages", "hash-table", "transactions")


@pytest.fixture(autouse=True)
def own_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the signal handlers of the process that runs the tests."""
    monkeypatch.setattr(interleaved, "interrupt_on_signals", lambda: None)


def measured(source: Path) -> set[tuple[str, str]]:
    """Return each case and form of the file, as the figure calls them."""
    found = set()
    for line in source.read_text().splitlines():
        record = json.loads(line)
        if "implementation" in record:
            found.add((record["pattern"], record["implementation"]))
            continue
        way = f" ({record['lock']})" if record["lock"] else ""
        found.add((record["case"], record["subject"] + way))
    return {(case, form) for case, form in found if form != LINE}


def identity(case: str, form: str) -> str:
    return "-".join(re.findall(r"\w+", f"{case} {form}"))


@pytest.mark.parametrize("topic", TOPICS)
def test_every_form_is_in_every_case_of_the_figure(topic: str, tmp_path: Path) -> None:
    source, picture = DATA / f"bench-{topic}.jsonl", tmp_path / "picture.svg"
    words = ["bench", topic, "--from", str(source), "--plot", str(picture)]
    assert main(words) == 0
    drawn, expected = picture.read_text(), measured(source)
    assert len(expected) > 15
    for case, form in expected:
        assert f'id="{identity(case, form)}"' in drawn
        assert f">{form}<" in drawn
        assert f">{case}<" in drawn


@pytest.mark.parametrize("topic", TOPICS)
def test_one_round_is_drawn_without_intervals(topic: str, tmp_path: Path) -> None:
    source, picture = tmp_path / "first.jsonl", tmp_path / "picture.png"
    lines = (DATA / f"bench-{topic}.jsonl").read_text().splitlines()
    first = [line for line in lines if re.search(r'"(run|round)": ?0[,}]', line)]
    source.write_text("\n".join(first))
    words = ["bench", topic, "--from", str(source), "--plot", str(picture)]
    assert main(words) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_figure_that_cannot_be_written_is_refused_before_measuring(
    topic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "no-such-folder" / "picture.png"
    assert main(["bench", topic, "--plot", str(place)]) == 2
    said = capsys.readouterr()
    assert str(place.parent) in said.err
    assert said.out == ""


def test_a_form_that_did_not_run_is_named(tmp_path: Path) -> None:
    forms = [Form("hasp", 2.0, (1.5, 2.5), HASP), Form("peer", 0.0, None, UNCLEAR)]
    path = tmp_path / "picture.svg"
    draw_picture(Picture("words", "axis", [Panel("case", "load", forms)]), path)
    drawn = path.read_text()
    assert ">peer<" in drawn and ">0.00<" in drawn
    assert 'id="case-hasp"' in drawn and 'id="case-peer"' not in drawn


@pytest.mark.parametrize(
    ("name", "low", "high", "found"),
    [
        ("hasp (fair=1)", 2.0, 3.0, HASP),
        ("peer", 1.1, 1.3, AHEAD),
        ("peer", 0.8, 0.9, BEHIND),
        ("peer", 0.9, 1.1, UNCLEAR),
        ("peer", None, None, UNCLEAR),
    ],
)
def test_only_an_interval_that_excludes_1_decides(
    name: str, low: float | None, high: float | None, found: str
) -> None:
    assert standing(name, Ratio(1.0, low, high, 9)) == found


def test_the_interval_of_a_median() -> None:
    assert interval_of_median([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert interval_of_median([6.0, 2.0, 3.0, 4.0, 5.0, 1.0]) == (1.0, 6.0)
    assert interval_of_median([float(n) for n in range(1, 32)]) == (10.0, 22.0)


def test_figures_have_three_digits() -> None:
    texts = [figure_text(value) for value in (397.2, 29.69, 1.93, 0.09)]
    assert texts == ["397", "29.7", "1.93", "0.09"]
