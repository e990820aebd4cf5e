# SPDX-License-Identifier: MIT
"""Programs that share the CPUs with others, and CPU times that are out of date."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.neighbour import Neighbour
from hasp.profile.model.profile import Profile

from .cases import many
from .parts import MS, US, program, site, use


@pytest.mark.parametrize("stale", [{"skipped_ns": 0}, {"ended": False}])
def test_cpu_time_that_was_not_read_was_not_taken_by_others(
    stale: dict[str, int],
) -> None:
    """Each second of the ten, the process used both CPUs."""
    waits = use(100_000, 50_000, 50 * US, 90 * US)
    short = program(site(waits), runnable=2, cpu_ns=50 * MS)
    assert (Facts(short).granted or 1) < 0.1
    short = replace(short, **stale)  # type: ignore[arg-type]
    assert Facts(short).granted == pytest.approx(1.0)
    assert not any("other programs" in line for line in diagnose(short).evidence)


def small(runnable: int) -> Profile:
    """Return a program that waits for a lock for about 5 % of its time."""
    return program(site(use(20_000, 5000, 200 * US, 60 * US)), runnable=runnable)


def test_a_small_saving_does_not_lead_in_a_disturbed_run() -> None:
    found = diagnose(small(runnable=4))
    assert found.lead.id == "not-locks", found.sentence
    assert len(found.others) == 1
    assert found.evidence[-1].startswith("also: db.c:88")
    assert diagnose(small(runnable=1)).lead.id == "long-section"


def test_a_program_without_cpu_time_is_not_told_to_look_for_sleep() -> None:
    """What it lacks may be all that keeps it from waiting for locks."""
    lonely = program(site(use(20_000, 0, 0, MS // 100)), runnable=2, cpu_ns=50 * MS)
    named = replace(lonely, neighbour=Neighbour("loadgen", 1.2))
    small = replace(lonely, neighbour=Neighbour("cron", 0.2))
    for some in (lonely, small):
        assert "lack CPU time, which other programs use" in diagnose(some).sentence
    assert "lack CPU time, which loadgen uses" in diagnose(named).sentence
    calm = program(site(use(20_000, 0, 0, MS // 100)), runnable=1)
    assert "CPU time" not in diagnose(calm).sentence


def test_other_programs_do_not_change_the_memory_of_locks() -> None:
    made = many()
    crowd = [replace(one, runnable=4) for one in made.process_samples]
    disturbed = replace(made, process_samples=tuple(crowd))
    assert (Facts(disturbed).granted or 1) < 0.75
    assert diagnose(disturbed).lead.id == "idle-locks"


def test_a_program_that_sleeps_was_not_disturbed() -> None:
    waits = use(100_000, 50_000, 50 * US, 90 * US)
    asleep = program(site(waits), runnable=1, cpu_ns=50 * MS)
    few = [
        replace(moment, runnable=int(number < 2))
        for number, moment in enumerate(asleep.process_samples)
    ]
    assert (Facts(asleep).granted or 1) < 0.1
    rarely = replace(asleep, process_samples=tuple(few))
    assert Facts(rarely).granted == pytest.approx(1.0)
