# SPDX-License-Identifier: MIT
"""The advice on few CPUs, as `hasp bench advice` measured it, and for unfair locks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import profile_samples as samples
import pytest

from hasp.locks import native
from hasp.profile.diagnosis.features import Features, SiteFeatures
from hasp.profile.diagnosis.greed import greed_at
from hasp.profile.diagnosis.judge import judge
from hasp.profile.diagnosis.measure import features
from hasp.profile.diagnosis.rules import load
from hasp.profile.diagnosis.verdict import SiteVerdict, Verdict
from hasp.profile.model.profile import Operation

# A lock of a thread pool: short sections, few acquisitions wait, many threads.
POOL = {
    "share": 0.05,
    "wait_share": 0.04,
    "waiters": 0.4,
    "waiters_share": 0.4,
    "contended_share": 0.02,
    "hold_p50_ns": 60.0,
    "hold_p99_ns": 5000.0,
    "operation_share": 0.003,
    "gain": 0.2,
}
CROWD = {"runnable_per_cpu": 3.0, "wanting_per_cpu": 4.0}
FITS = {"runnable_per_cpu": 1.0, "wanting_per_cpu": 1.0}
LONG = {"hold_p50_ns": 40000.0}  # too long to spin for


def verdict(site: dict[str, Any], **program: Any) -> Verdict:
    """The verdict on a program with one mutex, on two CPUs."""
    one = SiteFeatures(1, "pool.c:1 &mu", "mutex", **{**POOL, **site})
    shares = {"section_share": 0.3, "active_share": 0.4, **CROWD, **program}
    cpus = shares.pop("cpus", 2)
    measured = Features(cpus=cpus, nodes=1, sites=(one,), lock="glibc", **shares)
    return judge(measured, load(), native.locks())


def advised(site: dict[str, Any], **program: Any) -> str | None:
    """The recommended lock."""
    return verdict(site, **program).recommendation


def parks(name: str | None) -> bool:
    return name is not None and native.lock(name).parks


def test_waiters_that_seldom_wait_may_spin() -> None:
    assert advised({}) == "ttas-backoff"
    assert advised({}, **FITS) == "ttas-backoff"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"hold_p99_ns": 2e6}, "long sections"),
        ({"wait_share": 0.8, **LONG}, "surplus threads should sleep"),
        ({"contended_share": 0.001}, "hardly ever waits"),
        ({"gain": 0.08}, "can gain more than"),
    ],
)
def test_otherwise_glibcs_lock_is_kept_on_two_cpus(
    more: dict[str, Any], reason: str
) -> None:
    """Its waiters sleep, and no other algorithm was reliably faster."""
    site = verdict({"share": 0.4, **more}).sites[0]
    assert site.recommendation is None
    assert reason in site.keep


@pytest.mark.parametrize(
    "more",
    [
        {"wait_share": 0.8},  # threads wait most of the time
        {"wait_share": 0.3, "contended_share": 0.001, "hold_p50_ns": 5e3},  # seldom
        {"wait_share": 0.1, "hold_p99_ns": 2e6},  # a few sections are long
        {"wait_share": 0.1, "gain": 0.02},  # the bound is from a calmer run
    ],
)
def test_waiters_that_wait_long_for_short_sections_spin_before_they_sleep(
    more: dict[str, Any],
) -> None:
    assert advised({"share": 0.4, **more}) == "spinbit"


def test_spinning_does_not_help_waiters_for_threads_without_a_cpu() -> None:
    seldom = {"share": 0.4, "wait_share": 0.3, "contended_share": 0.001}
    site = verdict({**seldom, "hold_p50_ns": 30.0}).sites[0]
    assert site.recommendation is None
    assert "threads without a CPU" in site.keep
    assert advised({**seldom, "hold_p50_ns": 30.0}, **FITS) == "auto"


def test_the_costliest_site_decides_for_the_whole_program() -> None:
    """Another lock for a site that costs little would be one for all sites."""
    waits = {"wait_share": 0.6, "contended_share": 0.001, "hold_p50_ns": 30.0}
    free = {"waiters": 0.0, "waiters_share": 0.0, "contended_share": 0.0}
    light = {**free, "wait_share": 0.0, "operation_share": 0.08}
    sites = tuple(
        SiteFeatures(number, f"pool.c:{number}", "mutex", **{**POOL, **more})
        for number, more in enumerate(({"share": 0.6, **waits}, light), 1)
    )
    shares = {"section_share": 0.3, "active_share": 0.4, **CROWD}
    measured = Features(cpus=2, nodes=1, sites=sites, lock="glibc", **shares)
    found = judge(measured, load(), native.locks())
    assert [one.recommendation is None for one in found.sites] == [True, False]
    assert found.recommendation is None


def test_long_sections_without_surplus_threads_are_left_to_auto() -> None:
    """A waiter's CPU has nothing else to do."""
    waits = {"share": 0.5, "wait_share": 0.3, "contended_share": 0.8, **LONG}
    assert advised({**waits, "hold_p99_ns": 1e5}, **FITS) == "auto"
    assert advised({**waits, "hold_p99_ns": 1e5}) is None


def test_a_light_lock_is_advised_for_many_acquisitions_of_a_free_one() -> None:
    free = {"waiters": 0.0, "waiters_share": 0.0, "contended_share": 0.0}
    often = {**free, "wait_share": 0.0, "operation_share": 0.08}
    assert advised(often, **FITS) == "ttas-backoff"
    assert advised({**often, "operation_share": 0.03}, **FITS) is None


@pytest.mark.parametrize(
    "more",
    [
        {"hold_p99_ns": 2e6},  # a spinner would wait for a long section
        {"wait_share": 0.8},  # spinners would keep the holder from running
        {"contended_share": 0.5, "hold_p50_ns": 3000.0},
    ],
)
def test_on_more_cpus_they_sleep_if_threads_outnumber_cpus(
    more: dict[str, Any],
) -> None:
    assert parks(advised({"share": 0.4, **more}, cpus=4))


def test_many_cpus_keep_the_advice_of_the_study() -> None:
    assert parks(advised({"share": 0.4}, cpus=64))


def test_often_contended_short_sections_are_retried_on_two_cpus() -> None:
    assert advised({"share": 0.4, "contended_share": 0.3}) == "ttas-backoff"


def test_two_cpus_need_no_queue() -> None:
    """Several threads wait, but only one of them can spin beside the holder."""
    waits = {"share": 0.5, "waiters_share": 0.9, "waiters_p95": 2.0}
    long = {**waits, "contended_share": 0.5, "hold_p50_ns": 3000.0}
    assert advised(long, **FITS) == "ttas-backoff"
    assert advised(long, cpus=16, **FITS) == "mcs"


def test_those_that_wait_for_preempted_threads_gain_nothing() -> None:
    site = verdict({"share": 0.4, "contended_share": 0.001}, cpus=4).sites[0]
    assert site.recommendation is None
    assert "preempted threads, whatever the algorithm" in site.keep


def test_without_samples_threads_that_use_locks_count() -> None:
    """A short run: nothing says that the threads fit on the CPUs."""
    sample = replace(samples.hot_lock(), process_samples=(), cpus=2)
    assert features(sample, load()).wanting_per_cpu == 4 / 2


def unfair(**more: Any) -> SiteVerdict:
    """The verdict on a lock that one thread takes again and again."""
    greedy = {"greedy_share": 0.97, "passed_over": 40.0, "gain": 0.001}
    waits = {"share": 0.8, "wait_share": 0.4, "hold_p99_ns": 2e6}
    return verdict({**greedy, **waits, **more}).sites[0]


def test_an_unfair_lock_gets_equal_shares_whatever_the_bound_is() -> None:
    site = unfair()
    assert site.recommendation == "u-scl"
    assert "unfairness" in site.bottlenecks
    assert not site.keep  # the other rules on few CPUs give way
    for fair in ({"passed_over": 1.0}, {"greedy_share": 0.5}):
        assert unfair(**fair).recommendation != "u-scl"


def test_greed_is_the_share_of_the_holds_and_the_holds_during_a_wait() -> None:
    site = samples.hot_lock().sites[0]
    use = samples.use(1000, 0, 0, 2_000_000)
    waiting = samples.use(10, 10, 100_000_000, 1000)
    threads = {1: {Operation.LOCK: use}, 2: {Operation.LOCK: waiting}}
    greed = greed_at(replace(site, threads=threads))
    assert greed.greedy_share == pytest.approx(1.0, abs=0.01)
    assert greed.passed_over == pytest.approx(50, rel=0.1)
    assert greed_at(replace(site, threads={1: threads[1]})) == (None, None)


def test_a_lock_that_threads_take_incessantly_should_not_change_hands() -> None:
    hot = {"contended_share": 0.1, "operation_share": 0.1, "hold_p50_ns": 9.0}
    assert advised(hot) == "auto"
    assert advised(hot, **FITS) == "auto"
    assert advised({**hot, "operation_share": 0.04}) == "ttas-backoff"


def test_frequent_waits_for_conditions_are_short() -> None:
    waits = {"blocking_share": 0.12, "blocking_per_s": 45_000.0, "gain": 0.05}
    assert advised(waits, **FITS) == "ttas-backoff"
    for fewer in ({"blocking_share": 0.05}, {"blocking_per_s": 1500.0}):
        assert advised({**waits, **fewer}, **FITS) != "ttas-backoff"


def test_free_locks_that_go_from_thread_to_thread_should_be_small() -> None:
    free = {"contended_share": 0.002, "operation_share": 0.04}
    assert (
        advised(
            {
                **free,
                "owner_change_share": 0.5,
                "trylock_share": 0.0,
                "blocking_per_s": 0.0,
            }
        )
        == "futex"
    )
    assert (
        advised(
            {
                **free,
                "owner_change_share": 0.1,
                "trylock_share": 0.0,
                "blocking_per_s": 0.0,
            }
        )
        is None
    )


def test_waiters_do_not_spin_while_holders_are_interrupted() -> None:
    """As under Tokyo Cabinet's hash database with eight threads."""
    crowded = {"contended_share": 0.3, "wait_share": 0.55, "hold_p50_ns": 120.0}
    assert advised({**crowded, "hold_tail": 5.0}) is not None
    assert advised({**crowded, "hold_tail": 200.0}) is None
    assert advised({**crowded, "hold_tail": 200.0}, **FITS) is not None
