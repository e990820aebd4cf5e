# SPDX-License-Identifier: MIT
"""The locks that Hasp does not see are only blamed if the program may use them."""

from __future__ import annotations

from dataclasses import replace

from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.profile import Profile
from hasp.profile.model.runtimes import Runtime

from .cases import blocked_elsewhere, idle


def with_python(*, is_programs: bool) -> Profile:
    python = Runtime(
        *("python", "CPython", "libpython3.11.so.1.0", "PyMutex", "py-spy"),
        is_programs=is_programs,
    )
    return replace(idle(), unseen_runtimes=(python,))


def test_a_program_that_is_only_linked_with_a_runtime() -> None:
    """As Unbound, whose Python module is seldom used."""
    found = diagnose(with_python(is_programs=False))
    assert found.lead.id == "not-locks"
    assert "CPython" not in found.sentence
    assert any("not seen: PyMutex of CPython" in line for line in found.evidence)


def test_a_program_that_is_written_for_a_runtime() -> None:
    found = diagnose(with_python(is_programs=True))
    assert "it does not see PyMutex of CPython" in found.sentence


def test_the_runtime_is_the_one_that_threads_block_in() -> None:
    both = replace(
        blocked_elsewhere(),
        unseen_runtimes=(
            *with_python(is_programs=True).unseen_runtimes,
            *blocked_elsewhere().unseen_runtimes,
        ),
    )
    assert "critical sections of OpenMP" in diagnose(both).sentence
