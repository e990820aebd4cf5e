# SPDX-License-Identifier: MIT
"""Computing takes as much longer as the scores of the two machines say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from predict_samples import SMALL, closed, site

from hasp.lab.simulate.machines.machine import load as machine
from hasp.lab.simulate.machines.speed import Speed
from hasp.predict.load import Load, Variant, lines_of
from hasp.predict.pace import computing_share, pace_of, scaled
from hasp.profile.model.build import load as profile_of
from hasp.profile.model.holding import HolderState, Holding, StateShare
from hasp.profile.model.profile import Profile
from hasp.profile.record import files

FEW = ("--machine", "epyc-2x64", "--locks", "mcs", "--threads", "1,16")
EPYC = "AMD EPYC 7763 64-Core Processor, AuthenticAMD family 25 model 1"


def scored(score: float, benchmark: str = "PassMark single thread") -> Speed:
    return Speed(benchmark, score, score, score, False, "a test")


@pytest.fixture
def profile(trace: Path) -> Profile:
    return profile_of(trace)


def slowed(load: Load, profile: Profile, slower: float) -> Load:
    simulated = machine("epyc-2x64")
    assert simulated.speed
    given = scored(slower * simulated.speed.score)
    return scaled(load, pace_of(profile, simulated, given), profile)


def test_computing_is_scaled_and_sleep_is_not(profile: Profile) -> None:
    before = closed(9000, 1000)
    (role,) = before.roles
    before = replace(before, roles=(replace(role, idle_ns=500.0, waits=0.5),))
    after = slowed(before, profile, 3)
    (role,), (only,) = after.roles, after.sites
    assert role.gap_ns == pytest.approx(27000)
    assert role.holds_ns == pytest.approx((3000,))
    assert only.hold_ns == pytest.approx(3000)
    assert (role.idle_ns, role.waits) == (500.0, 0.5)
    assert role.rate == before.roles[0].rate


def test_a_slower_processor_does_not_write_more_lines(profile: Profile) -> None:
    before = closed(9000, 40)
    before = replace(before, sites=(replace(before.sites[0], misses=None),))
    after = slowed(before, profile, 3)
    most = Variant(varies=False, lines=8, seed=1)
    assert lines_of(after.sites[0], most) == lines_of(before.sites[0], most) == 4


def test_a_holder_that_was_seen_blocked_is_not_scaled(profile: Profile) -> None:
    states = (
        StateShare(HolderState.IO, 0.75, 75, "write"),
        StateShare(HolderState.RUNNING, 0.15, 15),
        StateShare(HolderState.READY, 0.1, 10),
    )
    (first, *others) = profile.sites
    blocked = replace(first, holding=Holding(100, states))
    assert computing_share(blocked) == pytest.approx(0.25)
    assert computing_share(first) == 1
    seen = replace(profile, sites=(blocked, *others))
    before = closed(9000, 1000)
    number = replace(before, sites=(site(first.number, hold_ns=1000.0),))
    after = slowed(number, seen, 3)
    assert after.roles[0].holds_ns == pytest.approx((750 + 3 * 250,))
    assert after.roles[0].gap_ns == pytest.approx(27000)


def test_one_thread_on_a_machine_of_half_the_speed_has_half_the_throughput(
    hasp, trace: Path
) -> None:
    speed = machine("epyc-2x64").speed
    assert speed
    documents = []
    for factor in (1, 2):
        words = ("--recorded-on", factor * speed.score, "--json")
        status, out, _ = hasp("predict", trace, *FEW, *words)
        assert status == 0
        documents.append(json.loads(out))
    same, slower = documents
    assert same["speed"]["slower"] == 1
    assert slower["speed"]["slower"] == 2

    def alone(document: dict) -> float:
        return document["throughput"][0]["median"]

    # The lock itself, a few of the 10,000 ns, takes as long as before.
    assert alone(slower) == pytest.approx(alone(same) / 2, rel=0.02)
    # Simulation and recording are compared at the speed of the recording.
    assert slower["baseline"] == same["baseline"]
    assert slower["load"]["roles"][0]["between_ns"] == pytest.approx(
        2 * same["load"]["roles"][0]["between_ns"]
    )


def test_the_trace_names_the_processor(hasp, trace: Path) -> None:
    assert profile_of(trace).processor == ""
    head = files.head(trace)
    assert head
    files.tell_processor(head, EPYC)
    assert profile_of(trace).processor == EPYC
    status, out, _ = hasp("predict", trace, *FEW[2:], "--machine", "a-64")
    words = " ".join(out.split())
    assert status == 0
    assert (
        "Computing takes 3.50 (2.87 to 3.50) times as long as recorded, by PassMark "
        "single thread: 753 of a-64, 2635 of AMD EPYC 7763." in words
    )
    assert "With the recorded 3 threads at the recorded speed the simulation" in words


def test_a_generation_gives_a_range_and_a_doubt(hasp, trace: Path) -> None:
    head = files.head(trace)
    assert head
    files.tell_processor(head, "AMD EPYC, AuthenticAMD family 25 model 1")
    _, out, _ = hasp("predict", trace, *FEW, "--json")
    document = json.loads(out)
    speed = document["speed"]
    assert speed["estimated"]
    assert speed["low"] < speed["slower"] < speed["high"]
    assert speed["recorded"]["of"] == "AMD EPYC of the third generation"
    assert any("--recorded-on" in doubt for doubt in document["doubts"])


def test_without_a_score_the_times_are_as_recorded(hasp, trace: Path) -> None:
    _, out, _ = hasp("predict", trace, *FEW)
    words = " ".join(out.split())
    assert "They compute as fast as on the recording's CPU: no score is known" in words
    head = files.head(trace)
    assert head
    files.tell_processor(head, EPYC)
    _, out, _ = hasp("predict", trace, *FEW[2:], "--machine", "graviton-3", "--json")
    speed = json.loads(out)["speed"]
    assert speed["slower"] is None
    assert speed["unknown"] == "graviton-3 has no score"
    assert speed["recorded"]["score"] == 2635


def test_scores_of_different_benchmarks_are_not_compared(profile: Profile) -> None:
    other = scored(12.3, "SPECrate2017_int_base")
    pace = pace_of(profile, machine("a-64"), other)
    assert not pace.known
    assert pace.slower == 1
    assert "SPECrate2017_int_base" in pace.unknown
    load = closed(9000, 1000)
    assert scaled(load, pace, profile) is load


def test_the_recording_machine_may_be_a_file(hasp, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "here.toml").write_text(
        SMALL + 'speed = { source = "MINE", benchmark = "PassMark single thread", '
        "score = 5270 }\n"
    )
    words = ("--recorded-on", tmp_path / "here.toml", "--json")
    _, out, _ = hasp("predict", trace, *FEW, *words)
    assert json.loads(out)["speed"]["slower"] == pytest.approx(2)


@pytest.mark.parametrize(
    ("recorded", "simulated", "words"),
    [
        ("nowhere", "a-64", "no machine called 'nowhere'"),
        ("", "a-64", "no machine called ''"),
        ("graviton-3", "a-64", "does not say how fast it is"),
        ("900", "graviton-3", "graviton-3 has no score to compare 900 with"),
        ("-1", "a-64", "-1 is not a score"),
        ("nan", "a-64", "nan is not a score"),
    ],
)
def test_a_machine_without_a_speed_is_refused(
    hasp, trace: Path, recorded: str, simulated: str, words: str
) -> None:
    status, _, err = hasp(
        "predict", trace, "--machine", simulated, f"--recorded-on={recorded}"
    )
    assert status == 2
    assert words in err
