# SPDX-License-Identifier: MIT
"""Each cause is found where it is, and not where it nearly is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from profile_samples import SECOND

from hasp.profile.diagnosis.causes import blocking_section
from hasp.profile.diagnosis.causes.cause import REMEDIES
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.states import State, estimated
from hasp.profile.diagnosis.causes.words import LONGEST
from hasp.profile.diagnosis.diagnose import EVIDENCE, diagnose
from hasp.profile.model.profile import Operation, Profile
from hasp.profile.report.headline import is_empty

from .cases import CASES, EVERY, blocking, events, herd, never_released, running
from .names import renamed
from .parts import MS, program, site, use

NAMES = (
    "",
    "f",
    "storage::engine::detail::LruCache<std::string, Page>::Shard::evict_and_reload",
    "a" * 300,
    "x.c:1 \x1b[31m",
)


@pytest.mark.parametrize("cause", CASES)
def test_a_cause_is_found(cause: str) -> None:
    found = diagnose(CASES[cause].having())
    assert found.lead.id == cause, found.sentence
    assert found.lead.remedy == REMEDIES[cause]
    assert 0 <= found.lead.saves <= 1


@pytest.mark.parametrize("cause", CASES)
def test_a_near_miss_is_not_reported(cause: str) -> None:
    found = diagnose(CASES[cause].missing())
    assert cause not in [one.id for one in (found.lead, *found.others)]


def test_every_cause_has_a_case() -> None:
    assert set(CASES) == set(REMEDIES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
def test_the_sentence_fits_whatever_the_names_are(
    make: Callable[[], Profile], name: str
) -> None:
    profile = renamed(make(), name)
    if is_empty(profile):
        return
    found = diagnose(profile)
    sentence = found.sentence
    assert 20 < len(sentence) <= LONGEST
    assert sentence.endswith(".")
    assert (
        "  " not in sentence
        and "\n" not in sentence
        and ".." not in (sentence.replace("...", ""))
    )
    assert len(found.evidence) <= EVIDENCE
    assert found.as_json()["sentence"] == sentence
    assert found.confidence.level in ("high", "medium", "low")


@pytest.mark.parametrize("cause", CASES)
def test_the_lock_is_named_once(cause: str) -> None:
    found = diagnose(CASES[cause].having())
    if found.lead.subject:
        assert found.sentence.count(found.lead.subject) == 1


def test_the_sentence_says_who_sleeps_where_and_for_how_long() -> None:
    assert diagnose(blocking()).sentence == (
        "db.c:88 &db->mu: 2 of 4 threads wait while put() sleeps in write(), 600 us "
        "each time. Write outside the lock."
    )


def test_faults_come_before_costs() -> None:
    fault = events("foreign-unlock", own=False)
    both = replace(running(), events=fault.events)
    found = diagnose(both)
    assert found.lead.id == "misuse"
    assert [one.id for one in found.others] == ["long-section"]
    assert any(line.startswith("also: db.c:88") for line in found.evidence)


def test_the_mean_of_all_functions_is_told_apart_from_that_of_the_named_one() -> None:
    """One function holds the lock long, others hold it often."""
    found = running()
    assert diagnose(found).evidence[0].endswith(" on average")
    (one,) = found.sites
    (holder,) = one.holders
    seldom = replace(holder, holds=holder.holds // 10)
    mixed = replace(found, sites=(replace(one, holders=(seldom,)),))
    assert diagnose(mixed).evidence[0].endswith(" on average over all functions")


def test_a_lock_that_was_never_released_has_no_other_cost() -> None:
    held = never_released()
    waited = running()
    both = replace(waited, held_at_end=held.held_at_end)
    found = diagnose(both)
    assert found.lead.id == "stuck"
    assert found.others == ()


def test_the_cause_of_a_condition_explains_the_waits_for_its_mutex() -> None:
    """Threads that a broadcast wakes wait for the mutex next."""
    mutex, condition = herd().sites
    waits = use(200_000, 90_000, 100_000, 300)
    busy = replace(mutex, stats={Operation.RELOCK: waits})
    found = diagnose(program(busy, condition))
    assert [one.id for one in (found.lead, *found.others)] == ["herd"]


def test_other_programs_that_take_the_cpus_lower_the_confidence() -> None:
    profile = running()
    assert diagnose(profile).confidence.level == "high"
    crowd = [replace(one, runnable=4) for one in profile.process_samples]
    found = diagnose(replace(profile, process_samples=tuple(crowd)))
    assert found.confidence.level == "low"
    assert "other programs used the CPUs" in found.evidence[0]


def test_a_short_run_lowers_the_confidence() -> None:
    profile = replace(running(), duration_ns=200_000_000)
    found = diagnose(profile)
    assert found.confidence.level == "medium"


@pytest.mark.parametrize("duration_ns", [0, 1, 900_000])
def test_a_run_without_a_duration_is_not_judged(duration_ns: int) -> None:
    """A program that was killed at once took its lock 400 G times per second."""
    found = diagnose(replace(running(), duration_ns=duration_ns))
    assert found.sentence == (
        "The recording is too short to judge the locks. Record for longer."
    )
    assert found.confidence.level == "low"
    assert not found.others


@pytest.mark.parametrize("partial", [{"skipped_ns": 0}, {"ended": False}])
def test_cpu_time_that_was_not_read_yet_is_not_sleep(partial: dict[str, int]) -> None:
    """A running thread's CPU time is read once a second, which a short part misses."""
    waits = use(100_000, 50_000, 5_000, 5_000)
    short = program(site(waits, held=None), cpu_ns=0)
    assert estimated(Facts(short).sites[0]).asleep > 0
    short = replace(short, **partial)  # type: ignore[arg-type]
    assert estimated(Facts(short).sites[0]).asleep == 0


@pytest.mark.parametrize(("share", "samples"), [(0.1, 0), (0.05, 0), (0.05, 200)])
def test_sleep_that_was_only_estimated_needs_more_waits(
    share: float, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = State(running=0.0, asleep=1.0, waiting=0.0, preempted=0.0, samples=samples)
    monkeypatch.setattr(blocking_section, "state_of", lambda one: state)
    each = share * 14 * SECOND / 200  # the threads are active for about 14 s
    facts = Facts(program(site(use(1000, 200, each, 10 * MS), held=None)))
    found = blocking_section.detect(facts.sites[0])
    assert (found is not None) == (share > 0.06 or samples > 0)
