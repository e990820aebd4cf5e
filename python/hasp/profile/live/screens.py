# SPDX-License-Identifier: MIT
"""The screens above the live view: details of a site, and help."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from hasp.base.errors import HaspError
from hasp.profile.model.build import load
from hasp.profile.model.profile import Profile, Site
from hasp.profile.report.details import histogram_lines
from hasp.profile.report.elision import elision_lines, title
from hasp.profile.report.findings import stack_words
from hasp.profile.report.words import count, plural, share, time

HELP = """\
Each line is a site: all locks created by one source location.

  waiting   mean number of threads waiting for its locks in the interval
  held      share of the interval in which a lock was held (2 locks: up to 200 %)
  acq/s     acquisitions per second
  cont      share of acquisitions that had to wait
  elided    share of acquisitions whose section was elided (lock elision only)
  now       threads waiting at this moment
  holder    holder at this moment
  waiters   history of the last intervals; a full bar is the maximum

  w h a c   sort by wait, hold, acquisitions, contended share
  enter     details of the site under the cursor: stacks, times, histograms
  t         threads: what each one waits for and holds
  d         delegated sections and servers (programs that use hasp/delegate.h)
  o         output of the program
  p         next process, if several are recorded
  q         quit; a program started for this view ends too

Escape goes back."""


class Page(ModalScreen[None]):
    """Text on the whole screen."""

    CSS = "Page VerticalScroll { background: $surface; padding: 1 2; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "dismiss", "back", priority=True)
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """Create the text."""
        with VerticalScroll():
            yield Static(self._text, id="text", markup=False)


class Help(Page):
    """The keys and the columns."""

    def __init__(self) -> None:
        super().__init__(HELP)


class Details(Page):
    """One site, over the whole run so far."""

    def __init__(self, trace: Path, name: str, kind: str) -> None:
        super().__init__(f"{name}: reading the whole trace ...")
        self._trace = trace
        self._site = name
        self._kind = kind

    def on_mount(self) -> None:
        """Runs in a thread because reading a large trace takes seconds."""
        self._read()

    @work(thread=True)
    def _read(self) -> None:
        try:
            text = "\n".join(describe(load(self._trace), self._site, self._kind))
        except HaspError as problem:
            text = problem.message
        self.app.call_from_thread(self.query_one("#text", Static).update, text)


def describe(profile: Profile, name: str, kind: str) -> Iterator[str]:
    """Return a site as lines: counts, stacks of its locks, and times."""
    for site in profile.sites:
        if site.name == name and site.kind.value == kind:
            yield from _describe(site, profile)
            return
    yield f"{name}: its locks are no longer in the trace"


def _describe(site: Site, profile: Profile) -> Iterator[str]:
    yield f"{site.name} ({site.kind.value}), since the start"
    use = site.total
    if use is not None:
        part = use.contended / use.acquisitions if use.acquisitions else None
        yield (
            f"{count(use.acquisitions)} acquisitions, {share(part)} had to wait; "
            f"{plural(len(site.locks), 'lock')}; "
            f"{share(site.share)} of all threads' time"
        )
    if use is not None and use.elision is not None:
        yield ""
        yield title(profile)
        yield from (f"  {line}" for line in elision_lines(use.elision))
    for words, stack in (("created", site.created), ("first acquired", site.first)):
        if stack:
            yield f"\n{words}:"
            yield from (f"  {line}" for line in stack_words(stack))
    if use is None:
        return
    for words, found in (
        ("wait", use.wait),
        ("hold", use.hold),
        ("handover", use.handover),
    ):
        if found.timed:
            yield (
                f"\n{words}: p50 {time(found.quantile(0.5))}, "
                f"p99 {time(found.quantile(0.99))}, longest {time(found.max_ns)}"
            )
            yield from histogram_lines(found)
