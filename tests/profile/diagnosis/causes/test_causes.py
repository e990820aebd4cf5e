# SPDX-License-Identifier: MIT
"""Each cause is found where it is, and not where it nearly is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hasp.profile.diagnosis.causes.cause import REMEDIES
from hasp.profile.diagnosis.causes.words import LONGEST
from hasp.profile.diagnosis.diagnose import EVIDENCE, diagnose
from hasp.profile.model.profile import Profile
from hasp.profile.report.headline import is_empty

from .cases import CASES, EVERY, blocking, events, running
from .names import renamed

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
