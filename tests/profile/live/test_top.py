# SPDX-License-Identifier: MIT
"""Tests the intervals between snapshots, the tables and the attaching of `hasp top`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from trace_samples import BEGIN, SECOND, Synthetic
from waiting import wait_until

from hasp.base.errors import HaspError
from hasp.profile.live import columns
from hasp.profile.live.columns import (
    headline,
    order_of,
    site_cells,
    sorted_sites,
    sparkline,
)
from hasp.profile.live.feed import Feed
from hasp.profile.live.interval import between
from hasp.profile.live.source import Attached, Started
from hasp.profile.model.build import load
from hasp.profile.model.snapshot import Place, take
from hasp.profile.record.target import Target
from hasp.profile.trace.format import ChunkKind, Operation

from .conftest import HOT, server

HASP = (sys.executable, "-m", "hasp")


def named(place: Place) -> str:
    return {1: "hot.c:1 &hot", 2: "cold.c:2 &cold"}[place.stack]


@pytest.mark.parametrize(
    ("timed", "began", "held"),
    [
        (0, 3 * SECOND, 0.5 + 0.5),  # the second half of the interval
        (0, 1 * SECOND, 0.5 + 1.0),  # all of it, because no sum includes it
        (1, 1 * SECOND, 0.5 + 1.0),
        (1, 3 * SECOND, 0.5 + 0.5),
    ],
)
def test_a_hold_in_progress_counts(tmp_path, timed, began, held):
    holds = {"holding_since": BEGIN + began, "holding_timed": timed}
    none = {} if began > 2 * SECOND else holds
    before = take(server(2, tmp_path / "before", none))
    after = take(server(4, tmp_path / "after", holds))
    hot, _ = sorted_sites(between(before, after, named), order_of("wait"))
    assert hot.held == pytest.approx(held)
    (thread, _) = between(before, after, named).threads
    seconds = (4 * SECOND - began) // SECOND
    assert thread.state == f"holds hot.c:1 &hot, {seconds}.0s"


def test_a_hold_that_was_timed_is_not_counted_twice(tmp_path):
    """When the hold ends, the sums contain all of it."""
    holds = {"holding_since": BEGIN + SECOND, "holding_timed": 1}
    before = take(server(2, tmp_path / "before", holds))
    after = take(server(4, tmp_path / "after"))
    hot, _ = sorted_sites(between(before, after, named), order_of("wait"))
    # The sums grew by one second, which was reported before.
    assert hot.held == pytest.approx(0)


def test_an_interval_is_the_difference_of_two_snapshots(samples):
    before, after = map(take, samples)
    found = between(before, after, named)
    assert found.seconds == pytest.approx(2)
    hot, cold = sorted_sites(found, order_of("wait"))
    assert (hot.name, cold.name) == ("hot.c:1 &hot", "cold.c:2 &cold")
    assert (hot.acquisitions, cold.acquisitions) == (1000, 5000)
    assert hot.contended == pytest.approx(0.1)
    assert hot.waiting == pytest.approx(0.1)  # 0.25 s were pending in both snapshots
    assert hot.held == pytest.approx(0.5)
    assert (hot.waiters, hot.holders) == (1, ["holder"])
    assert found.section_share == pytest.approx(0.25)
    # The figures are the same as in the report.
    assert after.overhead_share == load(samples[1]).overhead.share > 0


def test_a_wait_in_progress_counts_up_to_now(tmp_path):
    long_ago = BEGIN + SECOND
    before = take(server(2, tmp_path / "1", waiting_since=long_ago))
    after = take(server(4, tmp_path / "2", waiting_since=long_ago))
    (hot, _) = sorted_sites(between(before, after, named), order_of("wait"))
    assert hot.waiting == pytest.approx(1 + 0.1)


def test_the_first_interval_begins_at_the_start(samples):
    found = between(None, take(samples[1]), named)
    assert found.seconds == pytest.approx(4)
    assert {row.name: row.acquisitions for row in found.sites} == {
        "hot.c:1 &hot": 1000,
        "cold.c:2 &cold": 5000,
    }


def test_threads_show_the_locks_they_wait_for_and_hold(samples):
    holder, waiter = between(None, take(samples[1]), named).threads
    assert holder.state == "holds hot.c:1 &hot"
    assert waiter.state == "waits for hot.c:1 &hot, 250ms"
    assert holder.section == pytest.approx(0.5)


def test_waits_on_condition_variables_are_idle_time(tmp_path):
    for kind in (Operation.WAIT, Operation.BARRIER):
        found = between(None, take(server(2, tmp_path / "t", waiting_to=kind)), named)
        assert all(row.waiters == 0 for row in found.sites)
        assert "waits" in found.threads[1].state


def test_sites_with_the_same_name_are_one_row(samples):
    found = between(None, take(samples[1]), lambda place: "same")
    (row,) = found.sites
    assert row.acquisitions == 6000


@pytest.mark.parametrize(
    ("title", "first"),
    [("wait", "hot"), ("hold", "hot"), ("acquired", "cold"), ("contended", "hot")],
)
def test_sort_orders(samples, title, first):
    found = between(None, take(samples[1]), named)
    assert sorted_sites(found, order_of(title))[0].name.startswith(first)


def test_lines_fit_80_columns(samples):
    after = take(samples[1])
    found = between(None, after, named)
    assert len(headline(after, found)) <= 78
    row = found.sites[0]
    row.name, row.holders = "a_very_long_file_name.cpp:1234 " + "x" * 40, ["y" * 40] * 3
    row.waiting, row.held, row.acquisitions, row.waiters = 1234.5, 99.9, 2e7, 1000
    cells = site_cells(row, [1.0] * 60)
    headings = columns.SITE_HEADINGS
    widths = [max(map(len, pair)) for pair in zip(cells, headings, strict=True)]
    assert sum(widths) + len(widths) - 1 <= 80
    assert cells[0].startswith("a_very") and cells[0].endswith("xxx")
    # A wider terminal shows more of the name.
    assert len(site_cells(row, [], 120)[0]) == len(cells[0]) + 40


def test_sparklines():
    assert sparkline([0, 0]) == ""
    assert sparkline([0, 4, 8]) == " ▄█"
    assert sparkline([0.001, 100]) == "▁█"
    assert len(sparkline(range(60))) == columns.SPARK_WIDTH


def test_a_feed_remembers_waiters_and_names(samples):
    feed = Feed(samples[0])
    feed.look()
    samples[1].replace(samples[0])
    feed.look()
    assert feed.interval is not None
    row = sorted_sites(feed.interval, order_of("wait"))[0]
    assert row.name == "0x1000"
    assert len(feed.history(row)) == 2


def test_a_finished_trace_is_refused_and_report_suggested(samples):
    with pytest.raises(HaspError) as refused:
        Attached(samples[0])
    assert "hasp report" in refused.value.remedy


def test_quitting_ends_the_program(tmp_path):
    command = ["sleep", "60"]
    target = Target(command, "/bin/sleep", dict(os.environ), tmp_path / "t", 1)
    source = Started(target, None)
    assert source.status() is None
    source.stop()
    assert source.status() == -signal.SIGTERM


def test_tables_that_are_terminated_end_a_program_that_does_not_die_with_them(tmp_path):
    """As servers do that give up root: that clears the signal of the parent's death."""
    program = (
        "import ctypes, os, time; ctypes.CDLL(None).prctl(1, 0, 0, 0, 0); "
        "open('pid', 'w').write(f'{os.getpid()}.'); time.sleep(60)"
    )
    words = [*HASP, "top", "--plain", "1", "--", sys.executable, "-c", program]
    pid = tmp_path / "pid"
    with subprocess.Popen(words, cwd=tmp_path) as process:
        wait_until(lambda: pid.exists() and pid.read_text().endswith("."))
        process.terminate()
        assert process.wait(timeout=50) == 128 + signal.SIGTERM
    assert not Path(f"/proc/{pid.read_text()[:-1]}").exists()


def test_locks_of_a_site_that_only_waits_are_shown(tmp_path):
    trace = Synthetic(SECOND)
    site = trace.stack(HOT)
    lock = trace.lock(site=site)
    trace.thread(ended=0, waiting_for=lock, waiting_to=Operation.LOCK, tid=5)
    found = between(None, take(trace.write(tmp_path / "t")), lambda place: "it")
    assert [row.waiters for row in found.sites] == [1]
    assert (
        ChunkKind.SITE_STATS not in trace.records
        or not trace.records[ChunkKind.SITE_STATS]
    )
