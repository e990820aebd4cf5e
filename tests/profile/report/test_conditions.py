# SPDX-License-Identifier: MIT
"""Tests `hasp report --fail-if`, as used on a build server."""

from __future__ import annotations

import pytest

from hasp.base.errors import HaspError
from hasp.profile.report.conditions import condition


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("wait.p99 > 70us", True),
        ("wait.p99 > 80us", False),
        ("wait.p99>0.07ms", True),
        ("contended > 44%", True),
        ("contended > 0.46", False),
        ("contended>=45%", True),
        ("acquisitions > 1.9M", True),
        ("acquisitions > 2M", False),
        ("wait > 17s", True),  # without a statistic: the total
        ("waiters > 2", True),  # without a statistic: the mean
        ("waiters.max >= 3", True),
        ("handover.p999 < 1us", False),
        ("hold.p50 < 1us", True),
        ("instances == 8", True),
        ("db.c*: share > 60%", True),
        ("log.c*: share > 60%", False),
        ("&db->mu: share > 60%", True),
        ("db.c:88: share > 60%", True),
        ("Pool::mutex_: instances > 7", True),
    ],
)
def test_conditions(text, fails, report):
    status, _, err = report("hot_lock", "--fail-if", text)
    assert status == (1 if fails else 0)
    assert ("hasp:" in err) == fails


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("deadlock", "findings > 0", "findings: 2, over 0"),
        ("hot_lock", "findings > 0", ""),
        ("hot_lock", "sections > 60%", "sections: 64 %, over 60 %"),
        ("hot_lock", "overhead > 5%", ""),
    ],
)
def test_conditions_on_the_program(name, text, said, report):
    status, _, err = report(name, "--fail-if", text)
    assert status == (1 if said else 0)
    assert said in err and bool(err) == bool(said)


def test_a_failure_names_the_lock_and_the_number(report):
    status, out, err = report("hot_lock", "--fail-if", "wait.p99 > 1us")
    assert status == 1
    assert "db.c:88 &db->mu: wait.p99 is 78.1 us, over 1.00 us" in err
    assert "wait.p99 is" not in out


def test_any_of_several(report):
    words = ("--fail-if", "wait.p99 > 1s", "--fail-if", "share > 50%")
    status, _, err = report("hot_lock", *words)
    assert status == 1
    assert err.count("hasp:") == 1


def test_a_condition_that_matches_nothing_is_reported(report):
    status, _, err = report("hot_lock", "--fail-if", "renamed.c*: wait.p99 > 1us")
    assert status == 0
    assert "checked nothing: no lock matches 'renamed.c*'" in err
    _, _, err = report("idle", "--fail-if", "waiters > 1")
    assert "waiters.mean was not measured" in err


@pytest.mark.parametrize(
    "text",
    [
        *("", "wait", "wait.p99", "wait.p99 > ", "wait.p99 > fast", "> 1ms"),
        *("wait.p98 > 1ms", "speed > 3", "wait.p99 > 1", "wait.p99 > 5%"),
        *("db.c*: findings > 0", "findings > 3ms", "sections > 3k"),
        *("acquisitions > 3ms", "share > 5ms", "wait.p99 ~ 1ms", "a.b.c > 1"),
    ],
)
def test_bad_conditions(text, report):
    status, _, err = report("hot_lock", "--fail-if", text)
    assert status == 2
    assert "--fail-if" in err
    with pytest.raises(HaspError):
        condition(text)


def test_an_unknown_metric_lists_them(report):
    _, _, err = report("hot_lock", "--fail-if", "wait.p98 > 1ms")
    assert "wait|hold|handover[.total|.mean|.p50" in err
