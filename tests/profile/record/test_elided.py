# SPDX-License-Identifier: MIT
"""Elided sections in a recording. Emulated transactions: their outcomes are known."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from preload import matrix

from hasp.profile.live.columns import site_cells, site_headings
from hasp.profile.live.interval import between
from hasp.profile.model.build import load
from hasp.profile.model.elision import CAUSES
from hasp.profile.model.profile import Kind, Operation, Profile
from hasp.profile.model.snapshot import take
from hasp.profile.report.document import document
from hasp.profile.report.figures import metric
from hasp.profile.report.page import render
from hasp.profile.report.text import Choice, print_report

TOTALS = ("begins", "commits", "nested_aborts", "skipped", "guarded", "busy")


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., tuple[Profile, dict[str, Any]]]:
    """Record a case; return its profile and what the library has counted itself."""

    def run(
        case: str,
        elision: str,
        mode: str = "",
        lock: str = "elide+futex",
        program: str = "elision",
        **more: str,
    ) -> tuple[Profile, dict[str, Any]]:
        counts = tmp_path / "counts"
        extra = {
            "HASP_ELISION": elision,
            "HASP_ELISION_STATISTICS": str(counts),
            "HASP_TRACE": str(tmp_path / "hasp.trace"),
            "HASP_TRACE_MODE": mode,
            "HASP_TRACE_LOCK": lock,
            "LD_PRELOAD": str(matrix.library()),
            **more,
        }
        recorder = matrix.library().parent / "profile" / "libhasp-profile.so"
        elided = matrix.Lock(lock)
        outcome = matrix.run_case(program, case, elided, extra, interposer=recorder)
        assert outcome.status == "passed", outcome
        lines = counts.read_text().splitlines() if counts.exists() else []
        (trace,) = tmp_path.glob("hasp.trace*")
        return load(trace), json.loads(lines[-1]) if lines else {}

    return run


def script(folder: Path, text: str) -> str:
    path = folder / "script"
    path.write_text(text)
    return f"script:{path}"


def test_every_acquisition_is_recorded(record) -> None:
    """The program's four threads take locks[0] or locks[1] 3,000 times each."""
    profile, _ = record("exclusion", "seed:3")
    assert sorted(site.total.acquisitions for site in profile.sites)[0] == 12_000


@pytest.mark.parametrize("mode", ["", "sample"])
def test_the_sums_of_each_lock_agree(record, mode: str) -> None:
    profile, counted = record("exclusion", "seed:3", mode)
    found = [site.total.elision for site in profile.sites if site.total]
    sums = [one for one in found if one is not None]
    assert profile.transactions == "script"
    for one in sums:
        assert one.begins == one.commits + one.aborted
        assert one.commits == sum(one.committed_after) == sum(one.levels)
    # The library also counts what the recorder does with mutexes of its own.
    for name in (*TOTALS, "elided"):
        assert sum(getattr(one, name) for one in sums) <= counted[name], name
    ticks = [counted[f"{name}_ticks"] for name in ("wait", "abort", "commit")]
    assert sum(ticks) + counted["fallback_ticks"] == counted["spent_ticks"] > 0


def test_sections_are_counted_at_their_own_locks(record, tmp_path: Path) -> None:
    """One nest of three locks commits: once begun, three sections elided."""
    profile, _ = record("nested_in_thread", script(tmp_path, "commit\n"))
    sites = [site.total for site in profile.sites if site.total]
    assert sum(use.elision.elided for use in sites) == 3
    assert sum(use.acquisitions for use in sites) == 3
    assert sum(use.elision.commits for use in sites) == 1


def test_aborts_have_a_cause_and_cost_time(record, tmp_path: Path) -> None:
    lines = script(tmp_path, "commit\nconflict+retry\ncapacity\ncommit 100\n")
    profile, _ = record("in_thread", lines)
    (site,) = profile.sites
    elision = site.total.elision
    assert dict(elision.causes) == {"conflict": 1, "capacity": 1}
    # The second section aborts twice. It takes the lock, and so do the next three of
    # the lock and three of its site.
    assert (elision.fallbacks, elision.skipped) == (1, 6)
    assert site.total.acquisitions - elision.elided == 7
    assert elision.abort_ns > 0 and elision.commit_ns > 0
    assert elision.wasted_share < 1


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="undo is for x86-64")
def test_recording_aborts_nothing(record) -> None:
    """Software rolls back; system calls abort, and so do threads that do not stop.

    The program's two threads execute 60 nests each.
    """
    profile, counted = record("random_sections", "undo", program="undone")
    assert profile.transactions == "undo"
    sums = [site.total.elision for site in profile.sites if site.total]
    assert sum(one.commits for one in sums if one) > 100
    assert counted["aborts"]["other"] <= 10  # a thread starts, or allocates


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="undo is for x86-64")
def test_recording_aborts_no_section_of_a_rwlock(
    record, capsys: pytest.CaptureFixture[str]
) -> None:
    """120 sections by two threads, and two more: nested ones, and mutexes inside."""
    sections, nested, last = 120, 60, 2
    profile, counted = record(
        *("random_sections", "undo"),
        program="elided_rwlocks",
        lock="glibc",
        HASP_RWLOCK="elide+rw-futex",
        HASP_ELISION_OPTIONS="skip=0,sites=0,guard=0",
    )
    (site,) = [site for site in profile.sites if site.kind is Kind.RWLOCK]
    found = site.total.elision
    assert found.commits == counted["commits"] > sections * 0.9
    assert counted["aborts"]["other"] <= 6  # a thread starts, or allocates
    assert set(site.stats) == {Operation.READ, Operation.WRITE}
    assert abs(site.total.acquisitions - sections - nested - last) < nested / 2
    print_report(profile, Choice(metric("share")))
    table = capsys.readouterr().out.partition("EMULATED")[2]
    assert "&lock" in table and "&mutex" not in table


def test_the_sums_of_each_rwlock_agree(record) -> None:
    profile, counted = record(
        *("half_writes", "seed:3"),
        program="rwlocks/rw_exclusion",
        lock="glibc",
        HASP_RWLOCK="elide+rw-ttas",
    )
    found = [site for site in profile.sites if site.kind is Kind.RWLOCK]
    sums = [one for site in found if (one := site.total.elision) is not None]
    for one in sums:
        assert one.begins == one.commits + one.aborted
        assert one.commits == sum(one.committed_after) == sum(one.levels)
    for name in (*TOTALS, "elided", "fallbacks"):
        assert sum(getattr(one, name) for one in sums) == counted[name], name
    acquisitions = sum(site.total.acquisitions for site in found)
    assert acquisitions == counted["elided"] + counted["acquired"]


def test_reports_show_them(
    record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile, _ = record("exclusion", "seed:3")
    print_report(profile, Choice(metric("share")))
    text = capsys.readouterr().out
    assert "EMULATED" in text
    assert max(map(len, text[text.index("EMULATED") :].splitlines())) <= 80
    found = document(profile)
    assert found["program"]["transactions"] == "script"
    for lock in found["locks"]:
        assert set(lock["elision"]["aborts"]) == set(CAUSES)
    page = render(profile)
    assert "Elided sections" in page and "EMULATED" in page


def test_the_live_view_has_their_share(record, tmp_path: Path) -> None:
    record("exclusion", "seed:3")
    (trace,) = tmp_path.glob("hasp.trace*")
    now = between(None, take(trace), lambda place: str(place.stack))
    share = site_headings(True).index("elided")
    row = max(now.sites, key=lambda one: one.elided or 0)
    cells = site_cells(row, [], elides=True)
    assert cells[share].endswith("%")
    assert len(cells) == len(site_headings(True)) == len(site_headings(False)) + 1


def test_a_program_whose_locks_are_not_elided_has_none(
    record, capsys: pytest.CaptureFixture[str]
) -> None:
    profile, _ = record("in_thread", "never", lock="futex")
    assert profile.transactions == ""
    assert all(site.total.elision is None for site in profile.sites)
    print_report(profile, Choice(metric("share")))
    assert "elided" not in capsys.readouterr().out
