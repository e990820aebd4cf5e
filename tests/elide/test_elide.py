# SPDX-License-Identifier: MIT
"""`hasp elide`: every output says that it is a prediction, and errors name a remedy."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from hasp.base.errors import Interrupted
from hasp.elide import elide
from hasp.elide.answer import Data, Point, Prediction
from hasp.elide.configurations import CONFIGURATIONS, ELIDE, ELIDE_GLOBAL
from hasp.elide.predict import _crowded
from hasp.elide.report import doubts
from hasp.elide.verdict import LONGEST, kind_of, verdict
from hasp.predict.answer import Range
from hasp.predict.load import PARTS_MOST, Load, LoadSite, Variant, parts_of


def prediction(own: float, shared: float) -> Prediction:
    assumptions = (Data.OWN, Data.SHARED)
    made = Prediction(Load((), ()), "futex", "i7-4770", 8, (1, 8), assumptions)
    for one in (ELIDE, ELIDE_GLOBAL):
        for data, ratio in zip(assumptions, (own, shared), strict=True):
            made.points[Point(one, 8, data)] = Range(ratio, ratio, ratio)
    return made


def test_an_interrupted_prediction_says_so_in_json(hasp, trace, monkeypatch) -> None:
    def interrupted(*_: object) -> None:
        raise Interrupted(2)

    monkeypatch.setattr(elide, "predict", interrupted)
    status, out, _ = hasp("elide", trace, "--json")
    assert status == 130
    assert json.loads(out)["interrupted"]


def test_what_is_cut_is_said(profile_of) -> None:
    made = prediction(1.0, 1.0)
    made.left_out = 3
    made.crowded = [("db.c:88 &locks[i]", 1 / 32)]
    said = list(doubts(profile_of(None, 0, 0), made))
    assert any("3 further sites" in doubt for doubt in said)
    assert any("db.c:88 &locks[i]" in doubt and "3.1 %" in doubt for doubt in said)


def test_many_locks_have_fewer_parts() -> None:
    site = LoadSite(0, "s", False, 1 << 16, (), 1, (1000,), 1000.0, misses=2)
    variant = Variant(False, 8, 1, PARTS_MOST)
    assert parts_of(site, variant) == 2
    options = SimpleNamespace(conflicts=None)
    assert list(_crowded(options, Load((site,), ()))) == [("s", 0.5)]


@pytest.mark.parametrize(
    ("own", "shared", "kind", "words"),
    [
        (3.0, 2.0, "gains", "2.00 to 3.00 times as fast"),
        (3.0, 0.9, "depends", "3.00 times as fast if sections touch different data"),
        (0.8, 0.7, "loses", "elision loses (0.70 to 0.80 times"),
        (1.0, 0.9, "nothing", "gains nothing"),
    ],
)
def test_the_verdict_follows_from_both_extremes(own, shared, kind, words) -> None:
    made = prediction(own, shared)
    assert kind_of(made) == kind
    assert words in verdict(made)


def test_the_verdict_is_one_short_sentence_and_a_prediction() -> None:
    for own in (3.0, 0.8):
        said = verdict(prediction(own, 0.7))
        assert said.startswith("Predicted")
        assert len(said) <= LONGEST


def test_a_trace_is_predicted_on_a_machine_with_transactions(hasp, trace) -> None:
    status, out, _ = hasp("elide", trace, "--threads", "8", "--budget", "1ms")
    assert status == 0
    assert out.startswith("Predicted for 8 threads of i7-4770: ")
    for one in CONFIGURATIONS:
        assert f"\n{one.name} " in out
    assert "nothing was elided here" in " ".join(out.split())
    assert "only 1 of 4 variants" in " ".join(out.split())


def test_json_has_all_of_it(hasp, trace) -> None:
    words = ("elide", trace, "--threads", "1,4", "--conflicts", "10%", "--json")
    status, out, _ = hasp(*words)
    record = json.loads(out)
    assert (status, record["schema"]) == (0, "hasp.elide/1")
    assert record["kind"] == "prediction"
    assert record["verdict"].startswith("Predicted")
    assert {one["threads"] for one in record["configurations"]} == {1, 4}
    assert record["assumptions"] == ["as given"]
    (outlook,) = record["locks"][0]["outlooks"]
    assert 0 <= outlook["committed"]["median"] <= 1


def test_the_simulated_i7_agrees_with_the_thesis(hasp) -> None:
    """6.6 times for one lock, at most 20 % for one elided lock, 7 levels and not 8."""
    status, out, _ = hasp("elide", "--validate")
    assert status == 0
    assert "8 of 8" in " ".join(out.split())
    assert "no\n" not in out


def test_a_machine_that_contradicts_the_thesis_is_a_finding(hasp, tmp_path) -> None:
    from hasp.lab.simulate.machines.machine import FOLDER

    text = (FOLDER / "i7-4770.toml").read_text()
    (tmp_path / "deep.toml").write_text(text.replace("nesting = 7", "nesting = 8"))
    status, out, _ = hasp("elide", "--validate", "--machine", tmp_path / "deep.toml")
    assert status == 1
    assert "7 of 8" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--machine", "opteron-48"), "has no hardware transactions"),
        (("--conflicts", "110%"), "is not a share"),
        (("--conflicts", "x"), "is not a share"),
        (("--lock", "glibc"), "only a lock of Hasp's own"),
        (("--lock", "elide+futex"), "only a lock of Hasp's own"),
        (("--threads", "100"), "has 8 CPUs, too few for 100 threads"),
        (("--validate",), "--validate reads no trace and runs no command"),
    ],
)
def test_wrong_use_is_refused(hasp, trace, capsys, words, said) -> None:
    try:
        status, _, err = hasp("elide", trace, *words)
    except SystemExit as problem:
        status, err = problem.code, capsys.readouterr().err
    assert status == 2
    assert said in " ".join(err.split())


def test_a_share_of_conflicts_is_rounded_to_one_that_is_simulated(hasp, trace) -> None:
    words = ("--threads", "1", "--budget", "1ms", "--conflicts", "40%")
    _, out, _ = hasp("elide", trace, *words)
    assert "conflict in 50% of the cases" in " ".join(out.split())


@pytest.mark.parametrize("words", [("--machine", "opteron-48"), ("--threads", "100")])
def test_a_machine_is_refused_before_the_command_runs(hasp, tmp_path, words) -> None:
    run = ("elide", "--predict", *words, "--", "touch", tmp_path / "ran")
    status, _, _ = hasp(*run)
    assert status == 2
    assert not (tmp_path / "ran").exists()


def test_only_a_machine_with_transactions_is_compared_with_the_thesis(hasp) -> None:
    status, _, err = hasp("elide", "--validate", "--machine", "opteron-48")
    assert status == 2
    assert "has no hardware transactions" in err
