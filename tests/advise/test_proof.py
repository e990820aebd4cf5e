# SPDX-License-Identifier: MIT
"""Tests what a comparison proves about the advice: agreement, harm, fewer threads."""

from __future__ import annotations

import pytest

from hasp.advise.proof import Proof, prove
from hasp.compare.run_record import FAILED, OK, Run
from hasp.compare.settings import Metric, Settings
from hasp.compare.store import Comparison
from hasp.profile.diagnosis.rules import load

BLOCKS = 8
# Noise that affects whole rounds, and noise that affects single runs.
DRIFT = (1.0, 1.1, 0.9, 1.3, 1.0, 1.2, 0.8, 1.0)
JITTER = (1.00, 1.01, 0.99, 1.005, 0.995, 1.0, 1.01, 0.99)


def study(
    seconds: dict[tuple[str, int | None], float],
    metric: Metric | None = None,
    spread: float = 1.0,
    failing: tuple[str, ...] = (),
    blocks: int = BLOCKS,
) -> Comparison:
    """Return eight rounds of runs with roughly these wall times or rates."""
    locks = tuple(dict.fromkeys(lock for lock, _ in seconds))
    counts = tuple(dict.fromkeys(threads for _, threads in seconds))
    plan = Settings(
        ("./program",), locks, counts, BLOCKS, metrics=(metric,) if metric else ()
    )
    runs = []
    for block in range(blocks):
        for place, ((lock, threads), value) in enumerate(seconds.items()):
            jitter = 1 + spread * (JITTER[(block + 3 * place) % BLOCKS] - 1)
            took = value * DRIFT[block] * jitter
            figures = {metric.name: took} if metric else {}
            outcome = FAILED if lock in failing else OK
            wall = None if outcome == FAILED else took
            runs.append(
                Run(block + 1, lock, threads, outcome, wall_s=wall, figures=figures)
            )
    return Comparison(plan, {"cpus_allowed": 2}, [], "0", "now", runs=runs)


def verdicts(proof: Proof) -> dict[str, str]:
    return {item.cell.lock: item.verdict for item in proof.standings}


def test_rule_and_measurement_agree() -> None:
    proof = prove(
        study({("glibc", None): 1.5, ("mcs", None): 1.0, ("clh", None): 1.02}),
        "mcs",
        load(),
    )
    assert proof.agreement == "agree"
    assert verdicts(proof) == {"glibc": "harmful", "mcs": "best", "clh": "best"}
    assert any("harmful here: glibc" in words for words in proof.words)


def test_rule_and_measurement_disagree() -> None:
    times = {("glibc", None): 1.0, ("mcs", None): 1.1, ("clh", None): 1.4}
    for lock, verdict in (("mcs", "behind"), ("clh", "harmful")):
        proof = prove(study(times), lock, load())
        assert proof.agreement == "disagree"
        assert verdicts(proof)[lock] == verdict
        assert any("trust the measurement" in words for words in proof.words)


def test_few_runs_are_inconclusive() -> None:
    times = {("glibc", None): 1.0, ("mcs", None): 1.4}
    for blocks, agreement in ((6, "disagree"), (5, "cannot tell")):
        proof = prove(study(times, blocks=blocks), "mcs", load())
        assert proof.agreement == agreement
    proof = prove(study(times, blocks=5), None, load())  # glibc, which is the fastest
    assert proof.agreement == "cannot tell"
    assert "too few runs to prove it" in proof.words[0]


def test_overlapping_intervals_are_inconclusive() -> None:
    proof = prove(
        study({("glibc", None): 1.0, ("mcs", None): 1.05}, spread=6), "mcs", load()
    )
    assert proof.agreement == "cannot tell"
    assert verdicts(proof)["mcs"] == "cannot tell"


def test_higher_figures_are_better_by_default() -> None:
    rates = {("glibc", None): 100.0, ("mcs", None): 150.0}
    rate = prove(study(rates, Metric("ops", "x")), "mcs", load())
    assert rate.agreement == "agree"
    assert verdicts(rate) == {"glibc": "harmful", "mcs": "best"}
    delay = prove(study(rates, Metric("p99", "x", lower_is_better=True)), "mcs", load())
    assert delay.agreement == "disagree"


def test_keeping_the_lock_is_judged_too() -> None:
    times = {("glibc", None): 1.0, ("mcs", None): 1.0}
    assert prove(study(times), None, load()).agreement == "agree"
    times["mcs", None] = 0.7
    assert prove(study(times), None, load()).agreement == "disagree"


def test_a_lock_that_fails_proves_nothing() -> None:
    proof = prove(
        study({("glibc", None): 1.0, ("mcs", None): 1.0}, failing=("mcs",)),
        "mcs",
        load(),
    )
    assert proof.agreement == "cannot tell"
    assert "could not be measured" in proof.words[0]
    assert verdicts(proof)["mcs"] == "failed"
    unfinished = study({("glibc", None): 1.0, ("mcs", None): 1.0})
    unfinished.runs = [run for run in unfinished.runs if run.lock == "glibc"]
    assert verdicts(prove(unfinished, "mcs", load()))["mcs"] == "not measured"


@pytest.mark.parametrize(
    ("two", "said"),
    [(0.7, "fewer threads beat another lock"), (1.2, "fewer threads are no better")],
)
def test_fewer_threads(two: float, said: str) -> None:
    times = {
        ("glibc", 2): two,
        ("mcs", 2): two * 1.2,
        ("glibc", 4): 1.3,
        ("mcs", 4): 1.0,
    }
    proof = prove(study(times), "mcs", load())
    assert any(said in words for words in proof.words)
    assert proof.agreement == "agree"  # with the most threads


def test_limits_can_be_set() -> None:
    times = {("glibc", None): 1.0, ("mcs", None): 1.1}
    wide = load().set(["best=0.2"])
    assert prove(study(times), "mcs", wide).agreement == "agree"


def test_keeping_another_lock_is_judged_by_that_lock() -> None:
    """The trace may have been recorded under a lock that is not the reference."""
    times = {("glibc", None): 1.0, ("mcs", None): 1.3}
    assert prove(study(times), None, load()).agreement == "agree"
    proof = prove(study(times), None, load(), present="mcs")
    assert proof.agreement == "disagree"
    assert "mcs is harmful" in proof.words[0]
