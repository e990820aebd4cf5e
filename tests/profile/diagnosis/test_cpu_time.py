# SPDX-License-Identifier: MIT
"""The CPU time that other programs took."""

from __future__ import annotations

from dataclasses import replace

import pytest
from profile_samples import SECOND

from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.confidence import confidence_in
from hasp.profile.diagnosis.cpu_time import cpu_time, granted_share, others_time
from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.neighbour import Neighbour
from hasp.profile.model.profile import Profile

from .causes.cases import blocking

OWN = 8  # seconds of CPU time, of the program in ten seconds on two CPUs


def recorded(others: float) -> Profile:
    """Return a program that looks runnable on both CPUs, beside busy other ones.

    `others` is the number of CPUs that they use.
    """
    profile = blocking()
    samples = tuple(
        replace(
            sample,
            runnable=2,
            cpu_ns=sample.at_ns * OWN // 10,
            idle_ns=int(sample.at_ns * (2 - OWN / 10 - others)) + 77 * SECOND,
            machine_cpus=2,
        )
        for sample in profile.process_samples
    )
    return replace(profile, process_samples=samples)


@pytest.mark.parametrize("others", [0.0, 0.5, 1.2])
def test_the_time_of_other_programs_is_what_is_neither_idle_nor_its_own(
    others: float,
) -> None:
    assert others_time(recorded(others)) == pytest.approx(
        others * 10 * SECOND, rel=0.01
    )


def test_threads_lack_at_most_the_time_of_other_programs() -> None:
    idle, busy = recorded(0), recorded(1.2)
    assert granted_share(idle, cpu_time(idle)) == pytest.approx(1, abs=0.01)
    assert granted_share(busy, cpu_time(busy)) == pytest.approx(0.4, abs=0.01)


def test_an_idle_machine_is_not_said_to_disturb() -> None:
    for others, disturbed in ((0.0, False), (1.2, True)):
        profile = recorded(others)
        lead = diagnose(profile).lead
        lines = confidence_in(Facts(profile), lead).lines
        assert any("other programs" in line for line in lines) is disturbed


def test_the_program_that_disturbed_is_named() -> None:
    profile = replace(recorded(1.2), neighbour=Neighbour("loadgen", 1.16))
    lines = confidence_in(Facts(profile), diagnose(profile).lead).lines
    assert lines[0] == (
        "loadgen used at least 1.2 CPUs meanwhile "
        "(this one got 40 % of the time it could use): "
        "unless it is the load, record again on an idle machine"
    )


def test_older_traces_do_not_know_it() -> None:
    assert others_time(blocking()) is None
