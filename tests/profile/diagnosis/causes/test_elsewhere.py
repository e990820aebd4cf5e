# SPDX-License-Identifier: MIT
"""The locks that Hasp does not see are only blamed if the program may use them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from profile_samples import SECOND

from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.foreign import ForeignWaits
from hasp.profile.model.profile import Profile
from hasp.profile.model.runtimes import Runtime

from .cases import blocked_elsewhere, idle, never_released


def with_python(*, is_programs: bool) -> Profile:
    python = Runtime(
        *(
            "python",
            "CPython",
            "libpython3.11.so.1.0",
            "threading locks",
            "py-spy dump",
        ),
        is_programs=is_programs,
    )
    return replace(idle(), unseen_runtimes=(python,))


def test_a_program_that_is_only_linked_with_a_runtime() -> None:
    """As Unbound, whose Python module is seldom used."""
    found = diagnose(with_python(is_programs=False))
    assert found.lead.id == "not-locks"
    assert "CPython" not in found.sentence
    assert any(
        "not seen: threading locks of CPython" in line for line in found.evidence
    )


def test_a_program_that_is_written_for_a_runtime() -> None:
    found = diagnose(with_python(is_programs=True))
    assert "it does not see threading locks of CPython" in found.sentence


def test_the_runtime_is_the_one_that_threads_block_in() -> None:
    both = replace(
        blocked_elsewhere(),
        unseen_runtimes=(
            *with_python(is_programs=True).unseen_runtimes,
            *blocked_elsewhere().unseen_runtimes,
        ),
    )
    assert "critical sections of OpenMP" in diagnose(both).sentence


def run_by_java(profile: Profile, module: str) -> Profile:
    """Return the profile with its only site's locks made in this module, under Java."""
    (site,) = profile.sites
    stack = site.created or site.first
    made = (replace(stack[0], module=module), *stack[1:])
    java = Runtime(
        *("java", "Java", "libjvm.so", "monitors", "Java Flight Recorder"),
        is_programs=True,
    )
    sites = (replace(site, created=made, first=made),)
    return replace(profile, sites=sites, unseen_runtimes=(java,))


def test_the_locks_of_a_virtual_machine_are_not_the_programs() -> None:
    """HotSpot ends while a thread of its own holds a lock."""
    assert diagnose(never_released()).lead.id == "stuck"
    found = diagnose(run_by_java(never_released(), "libjvm.so"))
    assert found.lead.id == "unseen-locks"
    assert "monitors of Java, which Hasp does not see" in found.sentence
    native = diagnose(run_by_java(never_released(), "libnative.so"))
    assert native.lead.id == "stuck"


def with_openmp(*, is_programs: bool, busy: bool) -> Profile:
    openmp = Runtime(
        *("openmp", "OpenMP", "libgomp.so.1", "critical sections", "perf"),
        is_programs=is_programs,
    )
    profile = replace(idle(), unseen_runtimes=(openmp,), foreign=NOBODY)
    cpu = 5 * SECOND if busy else SECOND
    threads = tuple(replace(one, cpu_ns=cpu) for one in profile.threads)
    return replace(profile, threads=threads)


NOBODY = ForeignWaits(100, 0, 0, {})


def test_waiters_of_openmp_may_spin() -> None:
    found = diagnose(with_openmp(is_programs=True, busy=True))
    assert found.lead.id == "unseen-locks"
    assert "spin for critical sections of OpenMP" in found.sentence


@pytest.mark.parametrize(("is_programs", "busy"), [(False, True), (True, False)])
def test_a_program_without_such_sections_or_with_idle_cpus_does_not_spin(
    is_programs: bool, busy: bool
) -> None:
    found = diagnose(with_openmp(is_programs=is_programs, busy=busy))
    assert found.lead.id == "not-locks"


@pytest.mark.parametrize(("brief", "cause"), [(0, "not-locks"), (60, "unseen-locks")])
def test_schedulers_of_erlang_without_work_sleep_in_futexes(
    brief: int, cause: str
) -> None:
    erlang = Runtime(
        *("erlang", "Erlang/OTP", "symbol ethr_mutex_lock", "locks of ETS", "lcnt"),
        is_programs=True,
    )
    seen = ForeignWaits(100, 80, brief, {"beam.smp": 1.0})
    found = diagnose(replace(idle(), unseen_runtimes=(erlang,), foreign=seen))
    assert found.lead.id == cause
    assert "locks of ETS of Erlang/OTP" in found.sentence


def asleep_in_futexes(sleeps: int) -> Profile:
    """Two samples show short waits in futexes; each thread slept so often."""
    profile = replace(idle(), foreign=ForeignWaits(30, 4, 2, {"server": 1.0}))
    threads = tuple(replace(one, voluntary=sleeps) for one in profile.threads)
    return replace(profile, threads=threads)


def test_many_sleeps_without_a_lock_confirm_a_few_samples() -> None:
    assert diagnose(asleep_in_futexes(100_000)).lead.id == "unseen-locks"
    assert diagnose(asleep_in_futexes(100)).lead.id == "not-locks"


def restless(blocked: int, sleeps: int) -> Profile:
    """Threads sleep so often per second, and few samples find them in a futex."""
    made = idle()
    each = sleeps * 10 // len(made.threads)
    threads = tuple(replace(one, voluntary=each) for one in made.threads)
    seen = ForeignWaits(180, blocked, 0, {"server": 1.0} if blocked else {})
    return replace(made, threads=threads, foreign=seen)


def test_sleeps_that_samples_hardly_find() -> None:
    """As with a semaphore that is held for microseconds."""
    found = diagnose(restless(1, 50_000))
    assert found.lead.id == "unseen-locks"
    assert "50 k times per second" in found.sentence
    assert diagnose(restless(0, 50_000)).lead.id == "not-locks"  # perhaps I/O
    assert diagnose(restless(1, 500)).lead.id == "not-locks"
