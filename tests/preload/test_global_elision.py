# SPDX-License-Identifier: MIT
"""One lock for all mutexes, elided or not: what programs may do, and what they rely on.

Transactions are emulated or absent. Each hazard has a program; the watchdog ends the
mode, and every program completes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from preload import matrix

pytestmark = pytest.mark.timeout(2 * matrix.TIME_LIMIT + 60)

FUTEX = matrix.Lock("elide+futex")
BACK_ENDS = ("never", "seed:5")
HAZARDS = {
    "communicating": "communicating sections",
    "waiting_nested": "communicating sections",
    "held_for_ever": "held for ever",
    "unlocked_by_another": "unlocked by another thread",
    "change_under_load": "each mutex has a lock of its own: futex",
}
ENDED = "each mutex has a lock of its own"
# Destroying a held mutex is not refused, because its own word is 0.
EXCEPTIONS = {
    "adaptive_attribute": "EBUSY",
    "adaptive_initialiser": "EBUSY",
    "normal_attribute": "EBUSY",
    "default_initialiser": "EBUSY",
}


def settings(back_end: str, options: str = "", watchdog: int = 100) -> dict[str, str]:
    scope = f"scope=global,watchdog={watchdog}"
    return {
        "HASP_ELISION": back_end,
        "HASP_ELISION_OPTIONS": f"{scope},{options}" if options else scope,
    }


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("trylock", ["abort", "nest"])
def test_what_programs_do_in_sections(back_end: str, trylock: str) -> None:
    extra = settings(back_end, f"trylock={trylock}")
    outcomes = matrix.run_program("elision", FUTEX, extra)
    matrix.fail_if_any(outcomes, "elision in global mode", matrix.NOT_PASSED)


@pytest.mark.parametrize(
    "program",
    [
        "cond_timed",
        "fork_cond",
        "kinds",
        "timed",
        *(pytest.param(p, marks=pytest.mark.slow) for p in ("cond_queue", "exclusion")),
    ],
)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_semantics(program: str, back_end: str) -> None:
    outcomes = matrix.run_program(program, FUTEX, settings(back_end))
    unexpected = [
        one
        for one in outcomes
        if one.status in matrix.FAILED
        and EXCEPTIONS.get(one.case, "\0") not in one.text
    ]
    matrix.fail_if_any(unexpected, f"{program} in global mode")


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("case", HAZARDS)
def test_hazards_end_the_mode(case: str, back_end: str) -> None:
    outcome = matrix.run_case("global_sections", case, FUTEX, settings(back_end))
    assert outcome.status == "passed", outcome
    assert ENDED in outcome.text
    assert HAZARDS[case] in outcome.text


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_all_sections_exclude_each_other(back_end: str) -> None:
    extra = settings(back_end, watchdog=0)
    outcome = matrix.run_case("global_sections", "excluded", FUTEX, extra)
    assert outcome.status == "passed", outcome
    assert ENDED not in outcome.text


@pytest.fixture
def counted(tmp_path: Path) -> Callable[..., dict]:
    def run(program: str, case: str, options: str, script: str = "commit") -> dict:
        (tmp_path / "script").write_text(f"{script}\n")
        extra = {
            "HASP_ELISION": f"script:{tmp_path / 'script'}",
            "HASP_ELISION_OPTIONS": options,
            "HASP_ELISION_STATISTICS": str(tmp_path / "counts"),
        }
        outcome = matrix.run_case(program, case, FUTEX, extra)
        assert outcome.status == "passed", outcome
        lines = (tmp_path / "counts").read_text().splitlines()
        counts: dict = json.loads(lines[-1])
        assert counts["begins"] == counts["commits"] + sum(counts["aborts"].values())
        return counts

    return run


def test_a_nest_is_one_section_of_the_one_lock(counted) -> None:
    """So it needs one level of transactions, however deep the nest is."""
    fine = counted("elision", "nested", "scope=fine")
    whole = counted("elision", "nested", "scope=global")
    assert (fine["scope"], whole["scope"]) == ("fine", "global")
    assert (fine["levels"][2], whole["levels"][0]) == (1, 1)
    deep = counted("elision", "deep", "scope=global")  # twenty levels
    assert deep["levels"][0] == deep["commits"]


def test_there_is_no_lock_cascade_with_one_lock(counted) -> None:
    """Each attempt of a nest that must fail aborts once, not once at each level."""
    options = "guard=0,sites=0,scope="
    assert counted("elision", "nested", f"{options}global", "capacity")["begins"] == 1
    assert counted("elision", "nested", f"{options}fine", "capacity")["begins"] == 3


@pytest.mark.parametrize("scope", ["fine", "global"])
def test_an_empty_section_takes_its_lock(counted, scope: str) -> None:
    """A program uses it to wait for the holder, so it is not elided."""
    counts = counted("global_sections", "empty_section", f"skip=0,scope={scope}")
    assert counts["aborts"]["explicit"] == 1
    assert counts["commits"] == 1


def test_the_watchdog_can_be_turned_off() -> None:
    extra = settings("never", watchdog=0)
    outcome = matrix.run_case("global_sections", "communicating", FUTEX, extra, limit=1)
    assert outcome.status == "hung"
