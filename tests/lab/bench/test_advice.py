# SPDX-License-Identifier: MIT
"""`hasp bench advice`: the regret of the advice, its targets, and its data."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from lock_list import ROOT

from hasp.base.document import Document
from hasp.base.errors import HaspError
from hasp.cli.main import main
from hasp.lab.bench.advice.bench import markdown, missed_targets, summaries
from hasp.lab.bench.advice.cases import load
from hasp.lab.bench.advice.judge import (
    advised,
    advised_lock,
    best_fixed_lock,
    best_lock,
    chosen,
    compared,
    summary,
)
from hasp.profile.diagnosis.rules import load as load_rules

DATA = ROOT / "docs/data/advice.jsonl"
SPLIT = ROOT / "docs/studies/advice/split.toml"
QUIET = {
    "cpus": 2,
    "nodes": 1,
    "section_share": 0.01,
    "active_share": 0.01,
    "sites": [],
}


def case(program: str, half: str = "fitting", **more: Any) -> dict[str, Any]:
    """A record of the data file: mcs is half as fast as glibc's, spinbit twice."""
    runs = {
        "glibc": [1.0, 1.01, 0.99, 1.0, 1.0],
        "mcs": [0.5, 0.51, 0.49, 0.5, 0.5],
        "spinbit": [2.0, 2.02, 1.98, 2.0, 2.0],
    }
    record = {"program": program, "threads": 2, "half": half, "study": "test"}
    return {**record, "runs": runs, "recordings": [QUIET, None], **more}


def written(folder: Path, *records: dict[str, Any]) -> Path:
    """A data file."""
    path = folder / "advice.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_what_is_chosen_is_compared_with_the_best_and_with_glibc(
    tmp_path: Path,
) -> None:
    (one,) = load(written(tmp_path, case("p")))
    assert best_lock(one) == "spinbit"
    kept, slow, fast = (chosen(one, name) for name in ("glibc", "mcs", "spinbit"))
    assert kept.regret == pytest.approx(1.0, abs=0.05)
    assert kept.worse == 0.0
    assert slow.regret == pytest.approx(3.0, abs=0.1)
    assert slow.worse == pytest.approx(0.5, abs=0.02)
    assert slow.surely_worse
    assert fast.regret == 0.0
    assert not fast.surely_worse
    assert chosen(one, "clh").regret is None  # not measured
    assert chosen(one, "clh").sure_regret is None
    assert slow.sure_regret == pytest.approx(3.0, abs=0.15)
    assert slow.sure_regret < slow.raw_regret
    assert slow.proven_worse == pytest.approx(0.5, abs=0.03)
    assert fast.sure_regret == fast.proven_worse == 0.0
    assert best_fixed_lock([one]) == "spinbit"


def test_a_difference_within_the_noise_is_no_proven_regret(tmp_path: Path) -> None:
    runs = {"glibc": [1.0, 1.3, 0.8, 1.1], "mcs": [1.2, 1.0, 1.25, 0.9]}
    (one,) = load(written(tmp_path, case("p", runs=runs)))
    kept = chosen(one, "glibc")
    assert kept.raw_regret > 0.04
    assert kept.sure_regret == 0.0


def test_without_a_recommendation_glibcs_lock_is_kept(tmp_path: Path) -> None:
    (one,) = load(written(tmp_path, case("p")))
    assert [advised_lock(item, load_rules()) for item in one.recordings] == [
        "glibc",
        "glibc",
    ]
    assert len(advised([one], load_rules())) == 2


def test_what_a_comparison_proved_is_recommended_after_it(tmp_path: Path) -> None:
    won = {"lock": "spinbit", "verdict": "best", "ratio": 2.0, "low": 1.9, "high": 2.1}
    kept = {"lock": "mcs", "verdict": "harmful", "ratio": 0.5, "low": 0.4, "high": 0.6}
    proofs = [{**one, "runs": 7} for one in (won, kept)]
    cases = load(
        written(tmp_path, case("p", proofs=proofs), case("q", proofs=proofs[1:]))
    )
    after = compared(cases, load_rules())
    assert [one.lock for one in after] == ["spinbit", "glibc"]
    assert after[0].regret == 0.0
    halves = summaries(cases, advised(cases, load_rules()), after)
    assert [one.method for one in halves["fitting"]][-1] == "hasp advise -- COMMAND"
    assert any(
        "hasp advise -- COMMAND: median" in one for one in missed_targets(halves)
    )
    # Only where every case of a half was compared.
    some = load(written(tmp_path, case("p", proofs=proofs), case("q")))
    after = compared(some, load_rules())
    assert len(after) == 1
    assert len(summaries(some, advised(some, load_rules()), after)["fitting"]) == 3


def test_recorded_barriers_are_read(tmp_path: Path) -> None:
    waits = {"site": 1, "name": "b.c:1 &b", "wait_share": 0.2, "wait_p50_ns": 900.0}
    recording = {**QUIET, "threads": 2, "barriers": [waits]}
    (one,) = load(written(tmp_path, case("p", recordings=[recording])))
    assert [item.lock for item in advised([one], load_rules())] == ["glibc"]


def test_targets_are_missed_by_a_bad_choice(tmp_path: Path) -> None:
    cases = load(written(tmp_path, case("p"), case("q", "judging")))
    halves = summaries(cases, advised(cases, load_rules()))
    assert set(halves) == {"fitting", "judging", "all"}
    missed = missed_targets(halves)
    assert any("judging: median regret 100 %" in words for words in missed)
    good = {"both": [summary("hasp advise", [chosen(cases[0], "spinbit")])]}
    assert missed_targets(good) == []
    slow = {"both": [summary("hasp advise", [chosen(cases[0], "mcs")])]}
    assert any("glibc's lock 50 %" in words for words in missed_targets(slow))
    unknown = [chosen(cases[0], "spinbit"), chosen(cases[0], "clh")]
    unmeasured = {"both": [summary("hasp advise", unknown)]}
    assert any("were not measured" in words for words in missed_targets(unmeasured))


def test_the_command_prints_tables_json_and_markdown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(written(tmp_path, case("p"), case("q", "judging")))
    page = tmp_path / "page.md"
    assert main(["bench", "advice", "--from", data, "--markdown", str(page)]) == 0
    assert "keep glibc's" in capsys.readouterr().out
    assert page.read_text().startswith("| half | method |")
    assert main(["bench", "advice", "--from", data, "--json", "--check-targets"]) == 1
    said = capsys.readouterr()
    records = [json.loads(line) for line in said.out.splitlines()]
    assert {record["schema"] for record in records} == {"hasp.bench.advice/1"}
    assert {record["kind"] for record in records} == {"choice", "summary"}
    assert "target missed" in said.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"runs": {"mcs": [1.0]}}, "no run under glibc"),
        ({"half": "third"}, "half 'third'"),
        ({"recordings": [{"cpus": 2}]}, "not a case of this version"),
    ],
)
def test_damaged_data_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = written(tmp_path, case("p"), {**case("q"), **change})
    with pytest.raises(HaspError, match=words) as refusal:
        load(path)
    assert ":2 " in refusal.value.message


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "advice", "--from", str(tmp_path / "none")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["bench", "advice", "--quick"]) == 2
    assert "--quick is not for `hasp bench advice`" in capsys.readouterr().err
    assert main(["bench", "locks", "--markdown", "x"]) == 2
    assert "--markdown is for `hasp bench advice`" in capsys.readouterr().err
    (tmp_path / "empty").write_text("")
    assert main(["bench", "advice", "--from", str(tmp_path / "empty")]) == 2


def test_the_split_follows_its_rule() -> None:
    split = Document.read(SPLIT)
    halves: dict[str, list[str]] = {"fitting": [], "judging": []}
    for names in split.get(("strata",)).values():
        ordered = sorted(
            names, key=lambda name: hashlib.sha256(name.encode()).hexdigest()
        )
        halves["fitting"] += ordered[::2]
        halves["judging"] += ordered[1::2]
    for half, names in halves.items():
        assert sorted(split.get((half,))) == sorted(names)


def test_the_committed_data_has_both_halves_and_two_sizes_of_each_program() -> None:
    split = Document.read(SPLIT)
    cases = load(DATA)
    sizes: dict[str, set[int]] = {}
    for one in cases:
        sizes.setdefault(one.program, set()).add(one.threads)
        names = [*split.get((one.half,)), *(split.get((f"{one.half}-later",)) or [])]
        assert any(one.program.startswith(name) for name in names), one.name
        assert any(one.recordings) or one.program == "pigz"
    assert len(sizes) >= 24
    assert all(len(found) == 2 for found in sizes.values())


def test_the_page_shows_what_the_present_rules_give() -> None:
    """After a change of the rules: `hasp bench advice --markdown` and the page."""
    cases = load(DATA)
    choices = advised(cases, load_rules())
    after = compared(cases, load_rules())
    tables = markdown(cases, choices, after, summaries(cases, choices, after))
    page = (ROOT / "docs/studies/advice/README.md").read_text("utf-8")
    for one in tables.strip().split("\n\n"):
        assert one in page
