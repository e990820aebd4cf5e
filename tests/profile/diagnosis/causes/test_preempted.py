# SPDX-License-Identifier: MIT
"""Waits for a holder without a CPU, and waits that only look like it."""

from __future__ import annotations

from dataclasses import replace

from profile_samples import SECOND, distribution

from hasp.profile.diagnosis.causes import preempted_holder, unfair
from hasp.profile.diagnosis.causes.facts import Facts, SiteFacts
from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.holding import HolderState
from hasp.profile.model.profile import Kind, Operation, Profile, SiteStats

from .cases import greedy, preempted
from .parts import MS, US, holding, program, site, use

CUT = ((HolderState.READY, 0.6, None), (HolderState.RUNNING, 0.4, None))


def crowded(stats: SiteStats, **more: object) -> Profile:
    """Return a program whose four threads always want one of the two CPUs."""
    made = site(stats, held=holding(*CUT), **more)  # type: ignore[arg-type]
    return program(made, runnable=4, cpu_ns=5 * SECOND)


def site_of(profile: Profile) -> SiteFacts:
    return Facts(profile).sites[0]


def test_a_few_long_waits_among_many_short_ones_count_by_their_time() -> None:
    long, short = 900, 9000
    lasted = distribution(
        [8 * MS] * long + [20 * US] * short,
        long + short,
        long * 8 * MS + short * 20 * US,
    )
    stats = replace(use(30_000, long + short, US, 30 * US), wait=lasted)
    found = diagnose(crowded(stats))
    assert found.lead.id == "preempted-holder", found.sentence


def test_readers_wait_for_the_long_section_of_a_writer() -> None:
    made = crowded(use(1, 0, 0, US), kind=Kind.RWLOCK)
    reads = use(2_000_000, 3000, 4 * MS, 10)
    reads = replace(reads, hold=distribution([10] * 200_000, 2_000_000, 20 * MS))
    stats = {
        Operation.READ: reads,
        Operation.WRITE: use(2000, 50, US, 2 * MS),
    }
    profile = replace(made, sites=(replace(made.sites[0], stats=stats),))
    assert preempted_holder.own_hold(site_of(profile)) >= MS
    assert diagnose(profile).lead.id == "blocked-readers"


def test_a_section_as_long_as_a_time_slice_is_a_long_section() -> None:
    profile = crowded(use(2000, 1900, 5 * MS, 2 * MS))
    assert preempted_holder.detect(site_of(profile)) is None


def test_an_atomic_instruction_has_no_holder() -> None:
    profile = crowded(use(40_000_000, 90_000, 2 * MS, 60, owner_changes=1_000_000))
    assert diagnose(profile).lead.id == "tiny-section"


def test_cut_holds_do_not_count_as_sections() -> None:
    holds = distribution([30 * US] * 9800 + [4 * MS] * 200, 10_000, 1_094 * MS)
    stats = replace(use(10_000, 9000, 2 * MS, US), hold=holds)
    profile = crowded(stats)
    threads = [
        replace(one, long_holds=50, preempted_holds=cut) if one.number > 1 else one
        for one, cut in zip(profile.threads, (0, 50, 50, 50, 50), strict=True)
    ]
    cut = preempted_holder.own_hold(site_of(replace(profile, threads=threads)))
    whole = preempted_holder.own_hold(site_of(profile))
    assert cut < 100 * US < MS < whole


def test_woken_threads_are_no_crowd_while_a_cpu_is_idle() -> None:
    profile = preempted()
    sleepy = [replace(one, cpu_ns=one.cpu_ns // 2) for one in profile.threads]
    idle = tuple(
        replace(one, cpu_ns=one.at_ns, idle_ns=one.at_ns, machine_cpus=2)
        for one in profile.process_samples
    )
    assert Facts(profile).crowded
    assert not Facts(replace(profile, threads=sleepy, process_samples=idle)).crowded


def test_a_few_waits_for_a_cpu_are_usual_where_threads_outnumber_them() -> None:
    """As in pigz, whose threads compute nearly all the time."""
    assert diagnose(crowded(use(10_000, 400, 8 * MS, 30 * US))).lead.id == "not-locks"


def unseen(*cpu_ns: int) -> Profile:
    """Four threads wait long for short sections, but no holder was seen without a CPU.

    `cpu_ns` is the CPU time of each.
    """
    made = program(site(use(20_000, 5000, 4 * MS, 5 * US)), runnable=4)
    threads = [
        replace(one, cpu_ns=ns)
        for one, ns in zip(made.threads, (MS, *cpu_ns), strict=True)
    ]
    return replace(made, threads=tuple(threads))


def test_waits_of_threads_that_all_compute_cost_nothing() -> None:
    assert preempted_holder.detect(site_of(unseen(*[5 * SECOND] * 4))) is None


def test_threads_that_hardly_compute_wait_for_a_cpu_of_the_others() -> None:
    victims = unseen(9 * SECOND, 9 * SECOND, SECOND, SECOND)
    found = preempted_holder.detect(site_of(victims))
    assert found and "because 4 threads share 2 CPUs" in found.problem


def hogged(own_ns: int, *, others: bool = True) -> Profile:
    """The sections of three threads are long, since they lack a CPU in most of them.

    If `others`, a fourth thread, which computes, never takes the lock.
    """
    made = site(use(600, 500, 40 * MS, 15 * MS), held=holding(*CUT))
    users = {n: made.threads[n] for n in list(made.threads)[: 3 if others else 4]}
    profile = program(replace(made, threads=users), runnable=4)
    rest = int(20 * SECOND - 3 * own_ns)
    cpu = {one.number: own_ns for one in profile.threads[1:4]}
    cpu |= {profile.threads[0].number: MS, profile.threads[4].number: rest}
    threads = [replace(one, cpu_ns=cpu[one.number]) for one in profile.threads]
    return replace(profile, threads=tuple(threads))


def test_other_threads_cut_long_sections() -> None:
    profile = hogged(2 * SECOND)
    assert preempted_holder.detect(site_of(profile)), diagnose(profile).sentence


def test_long_sections_that_their_own_threads_cut_are_long() -> None:
    assert preempted_holder.detect(site_of(hogged(5 * SECOND, others=False))) is None


STARVED = ((HolderState.READY, 0.95, None), (HolderState.RUNNING, 0.05, None))


def test_a_holder_that_hardly_gets_a_cpu_is_preempted_however_few_the_waits() -> None:
    """Nor is its lock a gate, though its waits last for much of the run."""
    made = site(use(40, 8, 4 * SECOND, 100 * MS), held=holding(*STARVED))
    found = diagnose(program(made, runnable=4, cpu_ns=5 * SECOND))
    assert found.lead.id == "preempted-holder", found.sentence


def test_a_thread_without_a_cpu_takes_no_lock_again_at_once() -> None:
    profile = replace(greedy(), process_samples=preempted().process_samples)
    (one,) = profile.sites
    starved = replace(one, holding=holding(*STARVED))
    busy = [replace(thread, cpu_ns=5 * SECOND) for thread in profile.threads]
    profile = replace(profile, threads=tuple(busy))
    assert unfair.detect(site_of(profile))
    assert unfair.detect(site_of(replace(profile, sites=(starved,)))) is None
