# SPDX-License-Identifier: MIT
"""Samples become figures, ratios, outcomes and verdicts."""

from __future__ import annotations

import json

from bench.samples import collect, make_case, make_lock

from hasp.bench.judge import judge
from hasp.bench.rows import make_rows
from hasp.bench.runner import COLLAPSE, FAILED, HANG, OK, Sample
from hasp.output import json_line

ROUNDS = 7


def test_the_ratio_is_that_of_the_medians() -> None:
    case = make_case()
    samples = collect(case, glibc=[20.0] * ROUNDS, mcs=[10.0] * (ROUNDS - 1) + [99.0])
    glibc, mcs = make_rows(samples, [case], ["mcs"])
    assert (glibc.value, mcs.value) == (20.0, 10.0)
    assert mcs.ratio is not None
    assert mcs.ratio.value == 0.5
    assert mcs.extra is not None
    assert mcs.extra.value == -10.0
    assert mcs.outcome == OK


def test_a_hang_is_a_row_without_a_figure() -> None:
    case = make_case()
    hang = Sample(None, outcome=HANG, reason="2 of 2 threads are stuck")
    samples = collect(case, glibc=[20.0] * ROUNDS, mcs=[hang, hang])
    _, mcs = make_rows(samples, [case], ["mcs"])
    assert mcs.value is None
    assert (mcs.outcome, mcs.reason) == (HANG, "2 of 2 threads are stuck (2 of 2 runs)")
    record = json.loads(json_line(mcs.record()))
    assert record["value"] is None
    assert record["ratio_to_glibc"] is None, "infinite"


def test_the_partial_figure_of_a_hang_is_kept() -> None:
    case = make_case("contended", lower_is_better=False)
    samples = collect(
        case,
        glibc=[100.0] * ROUNDS,
        mcs=[40.0] * (ROUNDS - 1) + [Sample(3.0, outcome=HANG, reason="stuck")],
    )
    _, mcs = make_rows(samples, [case], ["mcs"])
    assert mcs.value == 40.0
    assert (mcs.outcome, mcs.reason) == (HANG, f"stuck (1 of {ROUNDS} runs)")


def test_far_too_slow_is_a_collapse() -> None:
    slow = make_case("oversubscribed", lower_is_better=False)
    samples = collect(slow, glibc=[1000.0] * ROUNDS, ticket=[1.0] * ROUNDS)
    assert make_rows(samples, [slow], ["ticket"])[1].outcome == COLLAPSE
    long = make_case("condvar_ping_pong")
    samples = collect(long, glibc=[1.0] * ROUNDS, ticket=[1000.0] * ROUNDS)
    assert make_rows(samples, [long], ["ticket"])[1].outcome == COLLAPSE


def test_handing_over_in_order_is_no_collapse() -> None:
    case = make_case("oversubscribed", lower_is_better=False)
    ring = make_case("baton_ring", lower_is_better=False, uses_lock=False)
    samples = collect(case, glibc=[9000.0] * ROUNDS, mcs=[90.0] * ROUNDS)
    samples.of.update(collect(ring, baton=[100.0] * ROUNDS).of)
    assert make_rows(samples, [case], ["mcs"])[1].outcome == COLLAPSE
    assert make_rows(samples, [case], ["mcs"], {"mcs"})[1].outcome == OK


def test_the_baton_ring_is_the_reference_of_the_oversubscribed_case() -> None:
    case = make_case("oversubscribed", lower_is_better=False)
    ring = make_case("baton_ring", lower_is_better=False, uses_lock=False)
    samples = collect(case, glibc=[1000.0] * ROUNDS, mcs=[90.0] * ROUNDS)
    samples.of.update(collect(ring, baton=[100.0] * ROUNDS).of)
    rows = make_rows(samples, [case, ring], ["mcs"])
    assert [row.lock for row in rows] == ["glibc", "mcs", "baton"]
    assert rows[1].baton_ratio is not None
    assert rows[1].baton_ratio.value == 0.9
    assert rows[1].record()["ratio_to_baton"] == 0.9


def test_targets_are_judged_with_the_interval_in_words() -> None:
    case = make_case("uncontended", threads=2)
    samples = collect(
        case,
        glibc=[10.0] * ROUNDS,
        futex=[6.8, 6.9, 6.9, 7.0, 7.1, 7.2, 7.2],
        mcs=[9.0, 9.9, 10.2, 9.5, 9.4, 9.6, 11.0],
    )
    locks = [make_lock("futex", default=True), make_lock("mcs", fifo=True)]
    rows = make_rows(samples, [case], ["futex", "mcs"])
    futex, mcs = judge(rows, locks, biased=True)
    assert not futex.met and futex.clear
    assert futex.words == "0.70 (0.69 to 0.72)x glibc's; wanted: at most 0.65"
    assert mcs.met and not mcs.clear
    futex, mcs = judge(rows, locks, biased=False)
    assert futex.met, "0.9 is enough where the biased release must be off"


def test_a_lock_that_fails_misses_its_targets() -> None:
    case = make_case("create_destroy")
    samples = collect(
        case,
        glibc=[10.0] * ROUNDS,
        mcs=[Sample(None, outcome=FAILED, reason="died: aborted")] * 2,
    )
    rows = make_rows(samples, [case], ["mcs"])
    (verdict,) = judge(rows, [make_lock("mcs")], biased=True)
    assert not verdict.met
    assert "died: aborted" in verdict.words


def test_spinning_locks_only_have_to_finish_the_ping_pong() -> None:
    case = make_case("condvar_ping_pong")
    samples = collect(case, glibc=[1.0] * ROUNDS, ticket=[500.0] * ROUNDS)
    rows = make_rows(samples, [case], ["ticket"])
    (verdict,) = judge(rows, [make_lock("ticket", parks=False)], biased=True)
    assert verdict.met
