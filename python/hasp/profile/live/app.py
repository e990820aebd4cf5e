# SPDX-License-Identifier: MIT
"""The live view on the terminal, with Textual."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable
from typing import ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import ContentSwitcher, DataTable, Footer, Log, Static

from hasp.base.errors import HaspError
from hasp.profile.live.columns import (
    ORDERS,
    THREAD_HEADINGS,
    Order,
    headline,
    site_cells,
    site_headings,
    sorted_sites,
    thread_cells,
)
from hasp.profile.live.delegated import NONE, delegated_lines
from hasp.profile.live.feed import Feed
from hasp.profile.live.interval import Interval, SiteRow
from hasp.profile.live.screens import Details, Help
from hasp.profile.live.source import MOST_LINES, Source
from hasp.profile.record.files import Trace

MOST_ROWS = 200  # rows of a table
WAITING = "waiting for lock operations: recording begins with the second thread"


class TopApp(App[None]):
    """Sites, threads and the program's output, one at a time."""

    CSS = """
    #head { height: 2; }
    ContentSwitcher { height: 1fr; }
    DataTable { height: 1fr; }
    Log { height: 1fr; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(order.key, f"sort('{order.title}')", order.short)
            for order in ORDERS
        ),
        Binding("t", "show('threads')", "threads"),
        Binding("d", "show('delegated')", "delegates", show=False),
        Binding("o", "show('output')", "output"),
        Binding("p", "next_process", "next"),
        Binding("enter", "details", "more", priority=True),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", "quit", show=False),
        Binding("escape", "show('sites')", "back", show=False),
    ]

    def __init__(self, source: Source, interval: float, order: Order) -> None:
        super().__init__()
        self.source = source
        self.order = order
        self.feed: Feed | None = None
        self._interval = interval
        self._sites: list[SiteRow] = []
        self._traces: list[Trace] = []
        self._ended = False
        self._looking = False
        self._elides = False  # the table has the column of elided sections

    def compose(self) -> ComposeResult:
        """Create the header, the bodies and the line of keys."""
        yield Static(self.source.title, id="head", markup=False)
        with ContentSwitcher(initial="sites", id="body"):
            yield DataTable(id="sites", cursor_type="row", cell_padding=0)
            yield DataTable(id="threads", cursor_type="row", cell_padding=0)
            with VerticalScroll(id="delegated"):
                yield Static(NONE, id="delegates", markup=False)
            yield Log(id="output", max_lines=MOST_LINES)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Start polling."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            # The terminal must be restored when the view ends.
            asyncio.get_running_loop().add_signal_handler(number, self.exit)
        self._table("sites").add_columns(*_apart(site_headings(False)))
        self._table("threads").add_columns(*_apart(THREAD_HEADINGS))
        self._table("sites").focus()
        self._say(WAITING)
        self.set_interval(self._interval, self.look)
        self.look()

    def look(self) -> None:
        """Read the trace, unless the previous read is still running."""
        if not self._looking:
            self._looking = True
            self._look()

    @work(thread=True)
    def _look(self) -> None:
        """Runs in a thread because reading a large trace takes time."""
        ended = self.source.status() is not None
        traces = self.source.traces()
        problem: HaspError | None = None
        interval = None
        try:
            if self.feed is None and traces:
                self.feed = Feed(traces[0].path)
            if self.feed is not None:
                interval = self.feed.look()
            elif ended:
                problem = self.source.why_no_trace()
        except HaspError as error:
            problem = error
        self.call_from_thread(self._show, traces, interval, ended, problem)
        self._looking = False

    def _show(
        self,
        traces: list[Trace],
        interval: Interval | None,
        ended: bool,
        problem: HaspError | None,
    ) -> None:
        self._traces, self._ended = traces, ended
        self._flush_output()
        if problem is not None:
            self._say(f"{problem.message}; {problem.remedy}")
        elif interval is not None and self.feed and self.feed.snapshot:
            self._say(headline(self.feed.snapshot, interval))
            self._fill(interval)

    def _say(self, text: str) -> None:
        parts = []
        if self._ended:
            parts.append(f"ended with status {self.source.status()}; q quits")
        paths = [trace.path for trace in self._traces]
        if self.feed is not None and len(paths) > 1 and self.feed.path in paths:
            place = paths.index(self.feed.path) + 1
            parts.append(f"process {place} of {len(paths)}: p shows the next")
        parts = parts or [f"sites by {self.order.title}, every {self._interval:g} s"]
        self.query_one("#head", Static).update(f"{text}\n{'; '.join(parts)}")

    def _fill(self, interval: Interval) -> None:
        assert self.feed is not None and self.feed.snapshot is not None
        if self._elides != self.feed.snapshot.elides:
            self._elides = self.feed.snapshot.elides
            self._table("sites").clear(columns=True)
            self._table("sites").add_columns(*_apart(site_headings(self._elides)))
        self._sites = sorted_sites(interval, self.order)[:MOST_ROWS]
        _refill(
            self._table("sites"),
            {
                f"{row.kind} {row.name}": site_cells(
                    row, self.feed.history(row), self.size.width, self._elides
                )
                for row in self._sites
            },
        )
        delegated = "\n".join(delegated_lines(interval, self.size.width))
        self.query_one("#delegates", Static).update(delegated.strip() or NONE)
        threads = sorted(interval.threads, key=lambda row: (-row.waiting, row.tid))
        _refill(
            self._table("threads"),
            {
                str(row.tid): thread_cells(row, self.size.width)
                for row in threads[:MOST_ROWS]
            },
        )

    def _flush_output(self) -> None:
        log = self.query_one("#output", Log)
        while self.source.lines:
            log.write_line(self.source.lines.popleft())

    def _table(self, name: str) -> DataTable[str]:
        table: DataTable[str] = self.query_one(f"#{name}", DataTable)
        return table

    def action_sort(self, title: str) -> None:
        """Sort the sites by another column."""
        self.order = next(order for order in ORDERS if order.title == title)
        self.action_show("sites")
        if self.feed is not None and self.feed.interval is not None:
            self._show(self._traces, self.feed.interval, self._ended, None)

    def action_show(self, name: str) -> None:
        """Show another body; if it is already shown, return to the sites."""
        body = self.query_one("#body", ContentSwitcher)
        body.current = "sites" if body.current == name else name
        self.query_one(f"#{body.current}").focus()

    def action_next_process(self) -> None:
        """Switch to the next recorded process."""
        paths = [trace.path for trace in self._traces]
        if self.feed is None or len(paths) < 2:
            return
        now = paths.index(self.feed.path) if self.feed.path in paths else -1
        self.feed = Feed(paths[(now + 1) % len(paths)])
        self.look()

    def action_details(self) -> None:
        """Show details of the site under the cursor."""
        body = self.query_one("#body", ContentSwitcher).current
        place = self._table("sites").cursor_row
        if self.feed is None or body != "sites" or place >= len(self._sites):
            return
        row = self._sites[place]
        self.push_screen(Details(self.feed.path, row.name, row.kind))

    def action_help(self) -> None:
        """Explain the keys and columns."""
        self.push_screen(Help())


def _apart(cells: Iterable[str]) -> list[str]:
    """Prefix cells with one space; the table's own padding would take two columns."""
    first, *others = cells
    return [first, *(f" {cell}" for cell in others)]


def _refill(table: DataTable[str], rows: dict[str, tuple[str, ...]]) -> None:
    """Replace the rows; the cursor stays on its row."""
    under = None
    if table.row_count:
        under = table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value
    table.clear()
    for key, cells in rows.items():
        table.add_row(*_apart(cells), key=key)
    if under in rows:
        table.move_cursor(row=table.get_row_index(under), animate=False)
