# SPDX-License-Identifier: MIT
"""`hasp top`: the intervals between two looks, the tables, the view and its keys."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable
from trace_samples import BEGIN, SECOND, Synthetic

from hasp.errors import HaspError
from hasp.profile.build import load
from hasp.recording import files
from hasp.recording.target import Target
from hasp.top import columns
from hasp.top.app import TopApp
from hasp.top.columns import headline, order_of, site_cells, sorted_sites, sparkline
from hasp.top.feed import Feed
from hasp.top.interval import between
from hasp.top.snapshot import Place, take
from hasp.top.source import Attached, Started
from hasp.trace.format import ChunkKind, End, LockKind, Operation

HOT, COLD = 0x1000, 0x2000  # return addresses of the two sites
MUTEX = LockKind.MUTEX


def server(
    at: int, path: Path, holds: dict[str, int] | None = None, **of_first_thread: int
) -> Path:
    """A program after `at` seconds: one hot site, one cold, a waiter and a holder."""
    trace = Synthetic(at * SECOND)
    trace.set_header(ended=End.RUNNING)
    hot, cold = trace.stack(HOT), trace.stack(COLD)
    locks = [trace.lock(site=site, address=8 * site) for site in (hot, cold)]
    holding = {"depth": 1, "held": [locks[0]], "name": b"holder", "tid": 11}
    holding |= holds or {}
    trace.thread(ended=0, section_ticks=at * SECOND // 2, timed=at, **holding)
    waiting = {"waiting_for": locks[0], "waiting_to": Operation.LOCK, "tid": 12}
    waiting["waiting_since"] = BEGIN + at * SECOND - SECOND // 4
    trace.thread(ended=0, **{**waiting, **of_first_thread})
    for site, each_second in ((hot, 1000), (cold, 5000)):
        trace.use(
            site=site,
            thread=1,
            acquisitions=at * each_second,
            contended=at * 100 if site == hot else 0,
            wait_ticks=at * SECOND // 10 if site == hot else 0,
            hold_ticks=at * SECOND // 2 if site == hot else at * SECOND // 100,
        )
    return trace.write(path)


@pytest.fixture
def looks(tmp_path) -> tuple[Path, Path]:
    return server(2, tmp_path / "before"), server(4, tmp_path / "after")


def named(place: Place) -> str:
    return {1: "hot.c:1 &hot", 2: "cold.c:2 &cold"}[place.stack]


@pytest.mark.parametrize(
    ("timed", "began", "held"),
    [
        (0, 3 * SECOND, 0.5 + 0.5),  # the second half of the interval
        (0, 1 * SECOND, 0.5 + 1.0),  # all of it; it is in no sums
        (1, 1 * SECOND, 0.5 + 1.0),
        (1, 3 * SECOND, 0.5 + 0.5),
    ],
)
def test_a_hold_that_goes_on_counts(tmp_path, timed, began, held):
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
    """At its end the sums get all of it."""
    holds = {"holding_since": BEGIN + SECOND, "holding_timed": 1}
    before = take(server(2, tmp_path / "before", holds))
    after = take(server(4, tmp_path / "after"))
    hot, _ = sorted_sites(between(before, after, named), order_of("wait"))
    # The sums grew by one second, which was told before.
    assert hot.held == pytest.approx(0)


def test_an_interval_is_the_difference_of_two_looks(looks):
    before, after = map(take, looks)
    found = between(before, after, named)
    assert found.seconds == pytest.approx(2)
    hot, cold = sorted_sites(found, order_of("wait"))
    assert (hot.name, cold.name) == ("hot.c:1 &hot", "cold.c:2 &cold")
    assert (hot.acquisitions, cold.acquisitions) == (1000, 5000)
    assert hot.contended == pytest.approx(0.1)
    assert hot.waiting == pytest.approx(0.1)  # both looks saw 0.25 s under way
    assert hot.held == pytest.approx(0.5)
    assert (hot.waiters, hot.holders) == (1, ["holder"])
    assert found.section_share == pytest.approx(0.25)
    # As the report has it.
    assert after.own_share == load(looks[1]).overhead.share > 0


def test_a_wait_that_goes_on_counts_up_to_now(tmp_path):
    long_ago = BEGIN + SECOND
    before = take(server(2, tmp_path / "1", waiting_since=long_ago))
    after = take(server(4, tmp_path / "2", waiting_since=long_ago))
    (hot, _) = sorted_sites(between(before, after, named), order_of("wait"))
    assert hot.waiting == pytest.approx(1 + 0.1)


def test_without_a_first_look_it_is_since_the_start(looks):
    found = between(None, take(looks[1]), named)
    assert found.seconds == pytest.approx(4)
    assert {row.name: row.acquisitions for row in found.sites} == {
        "hot.c:1 &hot": 1000,
        "cold.c:2 &cold": 5000,
    }


def test_threads_say_what_they_wait_for_and_hold(looks):
    holder, waiter = between(None, take(looks[1]), named).threads
    assert holder.state == "holds hot.c:1 &hot"
    assert waiter.state == "waits for hot.c:1 &hot, 250ms"
    assert holder.section == pytest.approx(0.5)


def test_condition_variables_are_idleness(tmp_path):
    for kind in (Operation.WAIT, Operation.BARRIER):
        found = between(None, take(server(2, tmp_path / "t", waiting_to=kind)), named)
        assert all(row.waiters == 0 for row in found.sites)
        assert "waits" in found.threads[1].state


def test_places_of_one_name_are_one_row(looks):
    found = between(None, take(looks[1]), lambda place: "same")
    (row,) = found.sites
    assert row.acquisitions == 6000


@pytest.mark.parametrize(
    ("title", "first"),
    [("wait", "hot"), ("hold", "hot"), ("acquired", "cold"), ("contended", "hot")],
)
def test_orders(looks, title, first):
    found = between(None, take(looks[1]), named)
    assert sorted_sites(found, order_of(title))[0].name.startswith(first)


def test_lines_fit_80_columns(looks):
    after = take(looks[1])
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


def test_a_feed_remembers_waiters_and_names(looks):
    feed = Feed(looks[0])
    feed.look()
    looks[1].replace(looks[0])
    feed.look()
    assert feed.interval is not None
    row = sorted_sites(feed.interval, order_of("wait"))[0]
    assert row.name == "0x1000"
    assert len(feed.history(row)) == 2


def test_a_trace_of_a_process_that_has_ended_is_for_report(looks):
    with pytest.raises(HaspError) as refused:
        Attached(looks[0])
    assert "hasp report" in refused.value.remedy


def test_leaving_ends_the_program(tmp_path):
    command = ["sleep", "60"]
    target = Target(command, "/bin/sleep", dict(os.environ), tmp_path / "t", 1)
    source = Started(target, None)
    assert source.status() is None
    source.stop()
    assert source.status() == -signal.SIGTERM


class Fake:
    """A source whose program a test plays."""

    def __init__(self, *paths: Path) -> None:
        self.title = "server"
        self.lines: deque[str] = deque()
        self.found = [files.Trace(path, 7, 4242, True) for path in paths]
        self.ended: int | None = None
        self.stopped = False

    def traces(self) -> list[files.Trace]:
        return self.found

    def status(self) -> int | None:
        return self.ended

    def why_no_trace(self) -> HaspError | None:
        return HaspError("nothing was recorded: it is too short", "run it longer")

    def stop(self) -> None:
        self.stopped = True


Steps = Callable[[TopApp, Pilot[None]], Awaitable[None]]


def drive(source: Fake, steps: Steps, size: tuple[int, int] = (80, 24)) -> TopApp:
    """Run the view, and do `steps` once it has looked."""
    app = TopApp(source, 60.0, order_of("wait"))

    async def go() -> None:
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)
            await steps(app, pilot)

    asyncio.run(go())
    return app


async def settle(app: TopApp, pilot: Pilot[None]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()


def screen(app: TopApp) -> str:
    """What is seen, as text."""
    return "\n".join(
        "".join(segment.text for segment in strip)
        for strip in app.screen._compositor.render_strips()
    )


def first_cells(app: TopApp, name: str = "sites") -> list[str]:
    table = app.query_one(f"#{name}", DataTable)
    return [str(table.get_row_at(row)[0]) for row in range(table.row_count)]


def test_the_view_at_80_columns(looks):
    async def steps(app, pilot):
        text = screen(app)
        lines = text.split("\n")
        assert len(lines) == 24
        assert max(map(len, lines)) <= 80
        for words in ("server --fast", "25% in sections", "holder", "0x1000"):
            assert words in text
        # The keys are shown.
        for key in "whactopq?":
            assert f" {key} " in lines[-1], key
        assert "waiters" in text

    drive(Fake(looks[1]), steps)


def test_keys_sort(looks):
    async def steps(app, pilot):
        assert first_cells(app) == ["0x1000", "0x2000"]
        await pilot.press("a")
        assert first_cells(app) == ["0x2000", "0x1000"]
        assert "sites by acquired" in screen(app)
        await pilot.press("h")
        assert first_cells(app) == ["0x1000", "0x2000"]

    drive(Fake(looks[1]), steps)


def test_threads_output_and_back(looks):
    source = Fake(looks[1])
    source.lines.extend(["listening", "ready"])

    async def steps(app, pilot):
        await pilot.press("t")
        assert "waits for 0x1000" in screen(app)
        await pilot.press("o")
        assert "listening" in screen(app)
        await pilot.press("escape")
        assert "0x2000" in screen(app)

    drive(source, steps)


def test_enter_shows_all_about_a_site(looks):
    async def steps(app, pilot):
        await pilot.press("down", "enter")
        await settle(app, pilot)
        text = screen(app)
        assert "0x2000 (mutex), since the start" in text
        assert "20.0k acquisitions" in text
        await pilot.press("escape")
        assert "sites by wait" in screen(app)

    drive(Fake(looks[1]), steps)


def test_help(looks):
    async def steps(app, pilot):
        await pilot.press("question_mark")
        assert "threads that waited for its locks" in screen(app)
        await pilot.press("escape")
        assert "threads that waited for its locks" not in screen(app)

    drive(Fake(looks[1]), steps)


def test_the_cursor_stays_with_its_site(looks):
    async def steps(app, pilot):
        await pilot.press("a")  # the other one is now the first
        assert app.query_one("#sites", DataTable).cursor_row == 1

    drive(Fake(looks[1]), steps)


def test_several_processes(looks):
    async def steps(app, pilot):
        assert "process 1 of 2" in screen(app)
        await pilot.press("p")
        await settle(app, pilot)
        assert "process 2 of 2" in screen(app)

    drive(Fake(*looks), steps)


def test_a_look_that_takes_long_is_not_overtaken(looks):
    source = Fake(looks[1])
    gate, calls = threading.Event(), []
    gate.set()

    def slowly() -> list[files.Trace]:
        calls.append(None)
        gate.wait(10)
        return source.found

    source.traces = slowly  # type: ignore[method-assign]

    async def steps(app, pilot):
        begun = len(calls)
        gate.clear()
        for _ in range(3):
            app.look()
            await pilot.pause()
        gate.set()
        await settle(app, pilot)
        assert len(calls) == begun + 1
        app.look()
        await settle(app, pilot)
        assert len(calls) == begun + 2

    drive(source, steps)


def test_before_and_without_a_trace(looks):
    source = Fake()

    async def steps(app, pilot):
        assert "waiting for its first locks" in screen(app)
        source.ended = 3
        app.look()
        await settle(app, pilot)
        assert "nothing was recorded" in screen(app)
        assert "ended with status 3" in screen(app)

    drive(source, steps)


def test_a_damaged_trace_is_said_and_nothing_breaks(tmp_path):
    damaged = tmp_path / "damaged"
    damaged.write_bytes(b"something else")

    async def steps(app, pilot):
        assert "not a trace" in screen(app)
        await pilot.press("enter", "t", "a", "p")

    drive(Fake(damaged), steps)


def test_it_quits(looks):
    async def steps(app, pilot):
        await pilot.press("q")

    assert drive(Fake(looks[1]), steps).return_code == 0


def test_locks_of_a_site_that_only_waits_are_shown(tmp_path):
    trace = Synthetic(SECOND)
    site = trace.stack(HOT)
    lock = trace.lock(site=site)
    trace.thread(ended=0, waiting_for=lock, waiting_to=Operation.LOCK, tid=5)
    found = between(None, take(trace.write(tmp_path / "t")), lambda place: "it")
    assert [row.waiters for row in found.sites] == [1]
    assert ChunkKind.USES not in trace.records or not trace.records[ChunkKind.USES]
