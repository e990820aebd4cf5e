# SPDX-License-Identifier: MIT
"""Tests the agreement of claims, the levels, and the consistency of the data."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from lock_list import ROOT

from hasp.lab.simulate.machines.machine import load, names
from hasp.lab.simulate.validation import claim as claims
from hasp.lab.simulate.validation.causes import CAUSES, SHIPPED_CAUSES, cause_of
from hasp.lab.simulate.validation.claim import Claim, Measured, Order, Verdict, judge
from hasp.lab.simulate.validation.distances import at_distance, distance, pairs
from hasp.lab.simulate.validation.lock_sets import LIBSLOCK, PLAIN, Form
from hasp.lab.simulate.validation.run import chosen
from hasp.lab.simulate.validation.scope import (
    CLAIMS,
    LEVELS,
    OUT_OF_SCOPE,
    as_shipped,
    score,
)
from hasp.lab.simulate.validation.verdicts import from_record, record


def numeric(least: float, most: float, loose: bool = False) -> Claim:
    def never(lab: object) -> Measured:
        raise AssertionError

    return Claim(
        "X1", "xeon-80", claims.PREDICTED, "says", never, least, most, "", loose
    )


@pytest.mark.parametrize(
    ("value", "agrees"),
    [(75, True), (74.9, False), (125, True), (125.1, False), (100, True), (0, False)],
)
def test_a_number_agrees_within_a_quarter(value: float, agrees: bool) -> None:
    assert judge(numeric(100, 100), Measured(value)).agrees is agrees


def test_a_range_has_the_tolerance_at_its_ends_unless_it_is_loose() -> None:
    assert judge(numeric(350, 450), Measured(270)).agrees is True
    assert judge(numeric(350, 450), Measured(570)).agrees is False
    assert judge(numeric(350, 450, loose=True), Measured(345)).agrees is False
    assert judge(numeric(350, 450), Measured(500)).deviation == pytest.approx(1 / 9)


@pytest.mark.parametrize(
    ("larger", "smaller", "agrees"),
    [(110, 100, True), (104, 100, None), (96, 100, None), (90, 100, False)],
)
def test_close_orderings_are_ties(
    larger: float, smaller: float, agrees: bool | None
) -> None:
    assert judge(numeric(0, 0), Order(larger, smaller)).agrees is agrees


def test_an_ordering_may_require_a_factor() -> None:
    assert judge(numeric(0, 0), Order(195, 100, factor=2)).agrees is None
    assert judge(numeric(0, 0), Order(150, 100, factor=2)).agrees is False
    assert judge(numeric(0, 0), Order(220, 100, factor=2)).agrees is True


def test_values_that_differ_by_seed_are_shown_as_a_range() -> None:
    shown = judge(numeric(100, 100), Measured(100, 60, 140)).simulated
    assert shown == "100 (60 to 140)"
    assert judge(numeric(100, 100), Measured(100, 99, 101)).simulated == "100"


def test_levels_exclude_ties_and_separate_kinds() -> None:
    orders = [claim for claim in CLAIMS if claim.kind == claims.ORDERING][:4]
    answers: list[bool | None] = [True, True, False, None]
    verdicts = [
        Verdict(claim, "", agrees, "")
        for claim, agrees in zip(orders, answers, strict=True)
    ]
    level = next(level for level in LEVELS if level.name == "orderings")
    found = score(level, verdicts)
    assert (found.agree, found.disagree, found.ties) == (2, 1, 1)
    assert found.share == pytest.approx(2 / 3) and found.reached == "missed"
    for other in LEVELS:
        if other is not level:
            assert score(other, verdicts).agree == 0


def test_each_claim_is_of_a_known_machine_lock_and_kind() -> None:
    asked = [(claim.id, claim.machine) for claim in CLAIMS]
    assert len(set(asked)) == len(asked)
    assert {claim.machine for claim in CLAIMS} <= set(names())
    assert {claim.kind for claim in CLAIMS} <= set(claims.KINDS)
    for claim in CLAIMS:
        if claim.kind not in (claims.ORDERING,) and claim.id != "S24":
            assert 0 < claim.least <= claim.most, claim.id


def test_every_claim_is_tested_or_listed_with_a_reason() -> None:
    asked = {claim.id.partition("/")[0] for claim in CLAIMS} | set(OUT_OF_SCOPE)
    wanted = {f"S{number}" for number in range(14, 72)}
    assert wanted - asked == set()
    for row in ("T42", "T43", "T44", "T48"):
        assert row in asked


def test_the_locks_of_the_study_exist_here() -> None:
    from hasp.locks import native

    known = {lock.name for lock in native.locks()}
    assert {*LIBSLOCK.values(), *PLAIN.values()} <= known


def test_shipped_locks_are_counted_separately() -> None:
    locks = [claim for claim in CLAIMS if claim.of_locks and claim.kind == "ordering"]
    claim, other = locks[:2]
    verdicts = [
        Verdict(claim, "", True, "", shipped=Verdict(claim, "", False, "")),
        Verdict(other, "", None, "", shipped=Verdict(other, "", True, "")),
    ]
    level = next(level for level in LEVELS if level.name == "orderings")
    published, shipped = score(level, verdicts), score(level, as_shipped(verdicts))
    assert (published.agree, published.disagree, published.ties) == (1, 0, 1)
    assert (shipped.agree, shipped.disagree, shipped.ties) == (1, 1, 0)


def test_causes_are_of_claims_that_exist() -> None:
    ids = [claim.id for claim in CLAIMS]
    for prefix in {**CAUSES, **SHIPPED_CAUSES}:
        assert any(f"{name}/".startswith(f"{prefix}/") for name in ids), prefix
    assert cause_of("no/such/claim", Form.PUBLISHED) == ""
    assert cause_of("S39", Form.SHIPPED) and not cause_of("S39", Form.PUBLISHED)


def machines_with_distances() -> Iterator[tuple[str, str]]:
    for name in ("opteron-48", "xeon-80", "niagara-64", "tilera-36"):
        for known in load(name).topology.distances:
            yield name, known


@pytest.mark.parametrize(("name", "known"), [*machines_with_distances()])
def test_cpus_at_a_given_distance(name: str, known: str) -> None:
    topology = load(name).topology
    measurer, holder, sharer = at_distance(topology, known)
    cells = {"one_hop": 1, "max_hops": 10} if topology.hops else {}
    wanted = cells.get(known, topology.distances.index(known))
    assert distance(topology, measurer, holder) == wanted
    assert len({measurer, holder, sharer}) == 3


def test_pairs_cover_every_distance_once() -> None:
    assert list(pairs(load("opteron-48").topology)) == [
        *("same_die", "same_mcm", "one_hop", "two_hops")
    ]
    assert len(pairs(load("tilera-36").topology)) == 10


def test_a_verdict_survives_its_json() -> None:
    claim = chosen(["opteron-48"])[0]
    verdict = Verdict(claim, "300 cycles", True, "why", -0.04)
    assert from_record(record(verdict)) == verdict
    both = replace(verdict, shipped=Verdict(claim, "500 cycles", None, "so", 0.6))
    assert from_record(record(both)) == both


def test_the_page_matches_the_data() -> None:
    import subprocess

    if not (ROOT / "docs/data/validation.jsonl").is_file():
        pytest.skip("no validation results exist yet")
    tool = ROOT / "tools/make_validation_page.py"
    done = subprocess.run(
        [sys.executable, tool, "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr or "run tools/make_validation_page.py"
