# SPDX-License-Identifier: MIT
"""The judge of the verdicts: which lock, cause and remedy count as right."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from lock_list import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from verdict_truth import Program, is_remedy, judge, names_lock, programs
from verdict_words import verdict_of


def named(name: str) -> Program:
    """The program of that name."""
    return next(program for program in programs() if program.name == name)


def line_of(program: Program, text: str, number: int = 0) -> int:
    """The number of the line that has this text, the first unless a number is given."""
    lines = program.source.read_text(encoding="utf-8").splitlines()
    return [at for at, line in enumerate(lines, 1) if text in line][number]


@pytest.mark.parametrize(
    ("printed", "right"),
    [
        ("access_log.c:40 &log_mu", True),
        ("log_mu", True),
        ("access_log.c:40 &cache_mu", False),
        ("access_log.c:40 &log_mutex", False),
        ("", False),
    ],
)
def test_lock_by_its_name(printed: str, right: bool) -> None:
    assert names_lock(named("access_log"), printed) is right


def test_lock_by_a_line_that_has_its_name() -> None:
    program = named("access_log")
    number = line_of(program, "mutex_lock(&log_mu)")
    other = line_of(program, "mutex_lock(&cache_mu)")
    assert names_lock(program, f"access_log.c:{number}")
    assert not names_lock(program, f"access_log.c:{other}")
    assert not names_lock(program, f"other.c:{number}")


def test_lock_by_the_class_that_has_it() -> None:
    program = named("token_signer")
    first = line_of(program, "lock_guard<std::mutex> guard(mutex_)", 0)
    last = line_of(program, "lock_guard<std::mutex> guard(mutex_)", -1)
    assert names_lock(program, f"token_signer.cpp:{first} mutex_")
    assert not names_lock(program, f"token_signer.cpp:{last} mutex_")


@pytest.mark.parametrize(
    ("remedy", "gains", "right"),
    [
        ("move-blocking-out", {"move-blocking-out": 3.0, "fewer-threads": 1.1}, True),
        ("fewer-threads", {"move-blocking-out": 3.0, "fewer-threads": 2.5}, False),
        ("fewer-threads", {"move-blocking-out": 3.0, "fewer-threads": 2.7}, True),
        ("pad", {"move-blocking-out": 3.0, "fewer-threads": 2.5}, False),
        ("none", {"move-blocking-out": 3.0}, False),
        # Nothing gains, or nothing was measured: the remedy of the truth.
        ("move-blocking-out", {"move-blocking-out": 0.9}, True),
        ("fewer-threads", {"fewer-threads": 1.01}, False),
        ("move-blocking-out", {}, True),
    ],
)
def test_remedy_gains_nearly_as_much_as_the_best(
    remedy: str, gains: dict[str, float], right: bool
) -> None:
    assert is_remedy(named("access_log"), remedy, gains) is right


def test_where_the_fault_does_not_exist_the_locks_are_not_to_blame() -> None:
    program = named("access_log")
    healthy = {"cause": "not-locks", "lock": None, "remedy": "none"}
    faulty = {
        "cause": "blocking-section",
        "lock": "access_log.c:40 &log_mu",
        "remedy": "move-blocking-out",
    }
    assert all(vars(judge(program, 1, healthy, {})).values())
    assert not any(vars(judge(program, 1, faulty, {})).values())
    assert all(vars(judge(program, 4, faulty, {})).values())
    assert not any(vars(judge(program, 4, healthy, {})).values())


def test_other_causes_of_the_row_are_right_too() -> None:
    program = replace(named("early_return"), also=("misuse",))
    verdict = {"cause": "misuse", "lock": "seats->lock", "remedy": "release"}
    assert judge(program, 1, verdict, {}).cause


@pytest.mark.parametrize(
    ("sentence", "cause", "lock", "remedy"),
    [
        (
            "20 % of thread time is spent waiting for hot.c:16 table: more runnable"
            " threads than CPUs, so spinning locks would collapse (holder preemption),"
            " and threads nearly always wait (extreme contention); keep glibc's lock;"
            " consider: run no more threads than CPUs",
            "preempted-holder",
            "hot.c:16 table",
            "fewer-threads",
        ),
        (
            "locks are not your bottleneck: less than 1 % of thread time is spent in"
            " critical sections, most of it at accounts.c:28 &accounts_mu",
            "not-locks",
            None,
            "none",
        ),
    ],
)
def test_older_verdicts_are_mapped(
    sentence: str, cause: str, lock: str | None, remedy: str
) -> None:
    verdict = verdict_of({"verdict": sentence})
    assert (verdict["cause"], verdict["lock"], verdict["remedy"]) == (
        cause,
        lock,
        remedy,
    )
