# SPDX-License-Identifier: MIT
"""Tests the bound on what another lock can gain; below 5 % none is recommended."""

from __future__ import annotations

from dataclasses import replace

import profile_samples as samples
import pytest

from hasp.advise.trial import candidates
from hasp.locks.native import locks
from hasp.profile.diagnosis import advise
from hasp.profile.diagnosis.features import Features, SiteFeatures
from hasp.profile.diagnosis.judge import judge
from hasp.profile.diagnosis.measure import features
from hasp.profile.diagnosis.measures import measures
from hasp.profile.diagnosis.rules import load
from hasp.profile.diagnosis.unmeasured import unmeasured_lines
from hasp.profile.model.distribution import NOTHING
from hasp.profile.model.profile import Profile, WaiterSample

MS = 1_000_000
# Measures that no rule uses.
SITE_FACTS = {"site", "name", "kind"}
PROGRAM_FACTS = {"nodes", "sites", "lock", "other_locks", "barriers", "threads"}


def fields_of(kind: type[Features] | type[SiteFeatures]) -> set[str]:
    return set(kind.__dataclass_fields__)


def program(
    *,
    acquisitions: int,
    contended: int,
    wait_ns: int,
    hold_ns: int,
    handover_ns: int,
    runnable: int,
    unheld: bool = False,
) -> Profile:
    """Return four threads that share one lock on four CPUs for ten seconds."""
    use = samples.use(acquisitions, contended, wait_ns, hold_ns)
    handover = NOTHING
    if handover_ns:
        handover = samples.distribution(
            [handover_ns] * 1000, contended, handover_ns * contended
        )
    held = acquisitions * hold_ns + contended * wait_ns
    share = min(0.9, held / (4 * samples.DURATION))
    site = samples.site(
        *(1, "db.c:88 &db->mu", replace(use, handover=handover), share),
        waiters=(contended * wait_ns / samples.DURATION, 3.0, 3),
    )
    made = samples.profile([site], share)
    process_samples = [
        replace(moment, runnable=runnable) for moment in made.process_samples
    ]
    waiter_samples = [
        WaiterSample(at * 10 * MS, site.locks[0].number, 1, 0 if unheld else 2, 1)
        for at in range(1000)
    ]
    return replace(
        made, process_samples=tuple(process_samples), waiters=tuple(waiter_samples)
    )


def filled(**more: int) -> Profile:
    """Return a run of which sections fill 98 %; no algorithm makes them shorter."""
    shape = {"acquisitions": 10_000, "contended": 9900, "handover_ns": 2000}
    times = {"wait_ns": 2 * MS, "hold_ns": 980_000, "runnable": 1}
    return program(**{**shape, **times, **more})


def slow(runnable: int, handover_ns: int = 2 * MS, *, unheld: bool = False) -> Profile:
    """Return slow handovers: the lock is free for four of ten seconds while threads
    wait.

    The lock is held for another four seconds.
    """
    return program(
        acquisitions=100_000,
        contended=2000,
        wait_ns=5 * MS,
        hold_ns=40_000,
        handover_ns=handover_ns,
        runnable=runnable,
        unheld=unheld,
    )


def first(profile: Profile) -> SiteFeatures:
    """Return the measures of the only site."""
    return features(profile, load()).sites[0]


def test_sections_that_fill_the_run_leave_no_gain() -> None:
    verdict = advise(filled())
    site = verdict.sites[0]
    assert "contention:extreme" in site.bottlenecks or site.level == "high"
    assert verdict.locks_matter
    assert site.features.gain is not None
    assert 0 < site.features.gain < 0.05
    assert (site.recommendation, site.alternatives) == (None, ())
    assert site.keep == "keep glibc's lock: no other algorithm can gain more than 1 %"
    assert site.keep in verdict.sentence
    assert site.avoid  # worse algorithms are still listed
    assert any("gain" in line and "[E10.bound" in line for line in verdict.evidence)


def test_the_bound_can_be_set() -> None:
    site = advise(filled(), load().set(["worthwhile=0"])).sites[0]
    assert site.recommendation
    assert not site.keep


def test_no_rwlock_is_both_kept_and_replaced() -> None:
    measured = features(filled(), load())
    rwlock = replace(measured.sites[0], kind="rwlock", read_share=0.998)
    verdict = judge(replace(measured, sites=(rwlock,)), load(), locks())
    assert [advice.site for advice in verdict.other_kinds] == [rwlock.site]
    assert verdict.sites[0].keep == ""
    assert "keep" not in verdict.sentence
    assert "hasp run --rwlock bravo+rw-futex" in verdict.sentence


def test_slow_handovers_only_cost_idle_cpus() -> None:
    idle, busy = first(slow(2)).gain, first(slow(4)).gain
    assert idle is not None
    assert idle > 0.2
    assert busy is not None
    assert busy < 0.05
    assert advise(slow(2)).sites[0].recommendation
    assert advise(slow(4)).sites[0].recommendation is None


def test_cpu_time_takes_longer_on_a_busy_machine() -> None:
    """The cost of acquisitions is a share of the available CPU time."""
    often = program(
        acquisitions=80_000_000,
        contended=0,
        wait_ns=0,
        hold_ns=20,
        handover_ns=0,
        runnable=4,
    )
    got = [replace(thread, cpu_ns=samples.SECOND) for thread in often.threads]
    alone, beside = first(often).gain, first(replace(often, threads=got)).gain
    assert alone is not None
    assert beside is not None
    assert beside > 3 * alone > 0


def test_the_cost_of_recording_is_not_charged_to_the_program() -> None:
    plain = slow(2)
    costly = replace(plain, overhead=replace(plain.overhead, share=0.3))
    assert (first(costly).gain or 0) > 1.3 * (first(plain).gain or 0)


def test_idle_time_does_not_count() -> None:
    """A server that is idle half of the time can gain just as much while it is busy."""
    always = slow(2)
    half = [
        moment if at % 2 else replace(moment, runnable=None, waiting=0)
        for at, moment in enumerate(always.process_samples)
    ]
    assert (
        first(replace(always, process_samples=half)).free_share or 0
    ) == pytest.approx(0.8)
    assert first(always).free_share == pytest.approx(0.4)


def test_a_lock_is_free_until_a_barging_thread_takes_it() -> None:
    """With barging, no release was followed by a waiter, but the lock was free."""
    unseen, seen = first(slow(2, 0)), first(slow(2, 0, unheld=True))
    assert unseen.free_share == 0.0
    # The bound is all the time during which the lock was not held.
    assert seen.free_share == pytest.approx(0.6)
    assert (seen.gain or 0) > (unseen.gain or 0)


def test_sleeping_waits_cost_little_and_spinning_waits_cost_all() -> None:
    spinning = replace(slow(4), lock="ticket")
    assert (first(spinning).lock_cpu_share or 0) > 5 * (
        first(slow(4)).lock_cpu_share or 0
    )
    verdict = advise(spinning)
    assert verdict.sites[0].recommendation
    kept = advise(replace(filled(), lock="mcs-park"), load().set(["worthwhile=99"]))
    assert kept.sites[0].keep.startswith("keep the algorithm mcs-park")


def test_on_several_nodes_sections_may_get_shorter() -> None:
    one = filled()
    site = one.sites[0]
    stats = {
        operation: replace(use, node_changes=use.acquisitions // 2)
        for operation, use in site.stats.items()
    }
    several = replace(one, nodes=4, sites=(replace(site, stats=stats),))
    assert (first(several).gain or 0) > 0.3 > (first(one).gain or 0)


def test_failing_trylocks_delay_the_holder() -> None:
    polled = samples.trylock_storm()
    use = next(iter(polled.sites[0].stats.values()))
    seldom = replace(use, trylock_failures=1000)
    site = replace(polled.sites[0], stats=dict.fromkeys(polled.sites[0].stats, seldom))
    few = first(replace(polled, sites=(site,)))
    assert (first(polled).gain or 0) > 3 * (few.gain or 0)
    assert (first(polled).free_share or 0) > (few.free_share or 0) + 0.1


def test_throttling_may_gain_more_than_the_lock_costs() -> None:
    rules = load()
    measured = replace(features(filled(), rules), memory_stalls=2.0)
    site = judge(measured, rules, locks()).sites[0]
    assert site.recommendation == "malthusian"
    assert not site.keep


def test_the_site_with_the_largest_gain_is_tried_first() -> None:
    verdict = advise(slow(2))
    site = verdict.sites[0]
    better = replace(
        site, recommendation="clh", features=replace(site.features, gain=9)
    )
    both = replace(verdict, sites=(site, better))
    assert both.recommendation == "clh"
    tried = candidates(both, load(), 3)
    assert tried[:2] == ["clh", site.recommendation]
    # There is no recommendation for locks of other kinds, or for the present algorithm.
    kept = replace(advise(filled()).features, lock="mcs-park")
    tried = candidates(replace(advise(filled()), features=kept), load(), 2)
    assert tried[0] == "mcs-park"
    assert len(tried) == 3


def test_each_rule_without_its_measure_is_named_with_a_reason() -> None:
    lines = unmeasured_lines(advise(slow(2)).unknown)
    for rule in ("E0.hybrid", "E0.growth", "E5.memory", "E9.servers", "E9.elided"):
        said = [line for line in lines if rule in line.partition(":")[0]]
        assert said, rule
        assert all(": not measured (" in line for line in said)
        assert not any("the trace does not contain it" in line for line in said)
    assert len(lines) == len({line.rpartition(": ")[2] for line in lines})


def test_delegation_asks_for_cache_misses() -> None:
    """Cache misses decide between 20 % and 70 % of the time at a lock (RCL 4.1)."""
    profile = replace(samples.hot_lock(), cpus=8)
    counted = {
        operation: replace(use, cache_misses_counted=40_000, counted_sections=2000)
        for operation, use in profile.sites[0].stats.items()
    }
    missing = replace(profile, sites=(replace(profile.sites[0], stats=counted),))
    for counter, said in (
        ("cache misses", True),
        ("page faults", False),
        (None, False),
    ):
        verdict = advise(replace(missing, counter=counter))
        assert any("delegate" in hint for hint in verdict.sites[0].hints) is said
        unknown = {item.rule.id for item in verdict.unknown}
        assert ("E9.delegate" in unknown) is not said


def test_every_measure_is_described() -> None:
    described = {name: measure.scope for name, measure in measures().items()}
    site = {name for name in fields_of(SiteFeatures) if name not in SITE_FACTS}
    program = {name for name in fields_of(Features) if name not in PROGRAM_FACTS}
    assert not site & program
    assert described == {
        **dict.fromkeys(program, "program"),
        **dict.fromkeys(site, "site"),
    }


@pytest.mark.parametrize(("cpus", "said"), [(4, False), (8, True)])
def test_delegation_needs_cpus(cpus: int, said: bool) -> None:
    profile = samples.hot_lock()
    whole = replace(profile.sites[0], share=0.8)
    verdict = advise(replace(profile, cpus=cpus, sites=(whole,)))
    assert any("delegate" in hint for hint in verdict.sites[0].hints) is said
