# SPDX-License-Identifier: MIT
"""Tests the view of `hasp top`, and its keys."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import DataTable

from hasp.base.errors import HaspError
from hasp.profile.live.app import TopApp
from hasp.profile.live.columns import order_of
from hasp.profile.record import files


class Fake:
    """A source of snapshots that a test controls."""

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
        return HaspError(
            "nothing was recorded, because the program was too short", "run it longer"
        )

    def stop(self) -> None:
        self.stopped = True


Steps = Callable[[TopApp, Pilot[None]], Awaitable[None]]


def drive(source: Fake, steps: Steps, size: tuple[int, int] = (80, 24)) -> TopApp:
    """Run the view, and perform `steps` after its first poll."""
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
    """Return the screen as text."""
    return "\n".join(
        "".join(segment.text for segment in strip)
        for strip in app.screen._compositor.render_strips()
    )


def first_cells(app: TopApp, name: str = "sites") -> list[str]:
    table = app.query_one(f"#{name}", DataTable)
    return [str(table.get_row_at(row)[0]) for row in range(table.row_count)]


def test_the_view_at_80_columns(samples):
    async def steps(app, pilot):
        text = screen(app)
        lines = text.split("\n")
        assert len(lines) == 24
        assert max(map(len, lines)) <= 80
        for words in ("server --fast", "25% in sections", "holder", "0x1000"):
            assert words in text
        # The keys are visible.
        for key in "whactopq?":
            assert f" {key} " in lines[-1], key
        assert "waiters" in text

    drive(Fake(samples[1]), steps)


def test_keys_sort(samples):
    async def steps(app, pilot):
        assert first_cells(app) == ["0x1000", "0x2000"]
        await pilot.press("a")
        assert first_cells(app) == ["0x2000", "0x1000"]
        assert "sites by acquired" in screen(app)
        await pilot.press("h")
        assert first_cells(app) == ["0x1000", "0x2000"]

    drive(Fake(samples[1]), steps)


def test_threads_and_output_can_be_left_again(samples):
    source = Fake(samples[1])
    source.lines.extend(["listening", "ready"])

    async def steps(app, pilot):
        await pilot.press("t")
        assert "waits for 0x1000" in screen(app)
        await pilot.press("o")
        assert "listening" in screen(app)
        await pilot.press("escape")
        assert "0x2000" in screen(app)

    drive(source, steps)


def test_enter_shows_the_details_of_a_site(samples):
    async def steps(app, pilot):
        await pilot.press("down", "enter")
        await settle(app, pilot)
        text = screen(app)
        assert "0x2000 (mutex), since the start" in text
        assert "20.0k acquisitions" in text
        await pilot.press("escape")
        assert "sites by wait" in screen(app)

    drive(Fake(samples[1]), steps)


def test_help(samples):
    async def steps(app, pilot):
        await pilot.press("question_mark")
        assert "threads waiting for its locks" in screen(app)
        await pilot.press("escape")
        assert "threads waiting for its locks" not in screen(app)

    drive(Fake(samples[1]), steps)


def test_the_cursor_stays_with_its_site(samples):
    async def steps(app, pilot):
        await pilot.press("a")  # the other site is now the first
        assert app.query_one("#sites", DataTable).cursor_row == 1

    drive(Fake(samples[1]), steps)


def test_several_processes(samples):
    async def steps(app, pilot):
        assert "process 1 of 2" in screen(app)
        await pilot.press("p")
        await settle(app, pilot)
        assert "process 2 of 2" in screen(app)

    drive(Fake(*samples), steps)


def test_a_slow_poll_is_not_overtaken(samples):
    source = Fake(samples[1])
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


def test_before_and_without_a_trace(samples):
    source = Fake()

    async def steps(app, pilot):
        assert "waiting for lock operations" in screen(app)
        source.ended = 3
        app.look()
        await settle(app, pilot)
        assert "nothing was recorded" in screen(app)
        assert "ended with status 3" in screen(app)

    drive(source, steps)


def test_a_damaged_trace_is_reported_and_the_view_continues(tmp_path):
    damaged = tmp_path / "damaged"
    damaged.write_bytes(b"something else")

    async def steps(app, pilot):
        assert "not a Hasp trace" in screen(app)
        await pilot.press("enter", "t", "a", "p")

    drive(Fake(damaged), steps)


def test_it_quits(samples):
    async def steps(app, pilot):
        await pilot.press("q")

    assert drive(Fake(samples[1]), steps).return_code == 0
