# SPDX-License-Identifier: MIT
"""Tests the page of `hasp report --html`, by itself and in a real browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pages import (
    TALL,
    assert_can_be_heard,
    assert_fits_a_phone,
    assert_looks_as_before,
    click,
    headless,
    pictures,
    text_of,
    visit,
)
from profile_samples import SAMPLES, deadlock, hot_lock

from hasp.profile.model.profile import Event, OrderedPair, WaiterSample
from hasp.profile.report import flame
from hasp.profile.report.findings import Names
from hasp.profile.report.order_graph import order_graph
from hasp.profile.report.page import page_data, render
from hasp.profile.report.timeline import timeline

from .large import everything, ten_thousand_sites

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(everything()))
    return path


def data_of(text):
    return json.loads(
        text.split('<script id="data" type="application/json">')[1].split("</script>")[
            0
        ]
    )


def test_the_page_needs_no_other_files(page):
    text = page.read_text()
    # Plotly's code contains addresses of maps, but the page must load nothing.
    assert not re.search(r"<(script|img)[^>]+src=|<link|@import|url\(http", text)
    assert "</script><b>odd" not in text
    assert len(data_of(text)["sites"]) == 5


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_makes_a_page(name, report, tmp_path):
    status, _, _ = report(name, "--html", tmp_path / "page.html")
    assert status == 0
    text = (tmp_path / "page.html").read_text()
    assert ("<main hidden>" in text) == (name == "unlocked")
    assert data_of(text)["columns"]


def test_the_page_has_the_contents_of_the_first_screen(page):
    text = page.read_text()
    assert text.index('id="said"') < text.index('id="sites"')
    for words in (
        "db.c:88 &amp;db-&gt;mu",
        "acquired in both orders",
        "12 stacks were lost",
    ):
        assert words in text
    assert "pay at bank.c:31" in text and "refund at bank.c:44" in text


@pytest.mark.slow
def test_a_page_of_ten_thousand_sites_is_bounded(monkeypatch):
    profile = ten_thousand_sites()
    data = json.dumps(page_data(profile, Names(profile), _rows(profile)))
    assert len(data) < 1_500_000
    assert len(json.loads(data)["sites"]) == 1000


def _rows(profile):
    from hasp.profile.report.figures import rows

    return rows(profile)


def test_a_flame_graph_keeps_the_largest_stacks_and_all_time(monkeypatch):
    monkeypatch.setattr(flame, "MOST_NODES", 4)
    sums = {("main", "a", "x"): 50, ("main", "b"): 30, ("main", "c"): 5, ("other",): 2}
    tree = flame.tree(sums, "all")
    assert list(zip(tree["labels"], tree["values"], strict=True)) == [
        *(("all", 87), ("main", 85), ("a", 50), ("x", 50)),
    ]
    assert tree["parents"] == [-1, 0, 1, 2]


def test_the_timeline_is_a_mean_over_samples():
    profile = hot_lock()
    number = profile.sites[0].locks[0].number
    ms = 1_000_000
    # Every sample of the first half has two waiters and holder 2, the others have none.
    samples = tuple(WaiterSample(at * 10 * ms, number, 2, 2, 1) for at in range(1, 501))
    profile = replace(profile, waiters=samples)
    found = timeline(profile, Names(profile))
    assert found["sites"] == [1]
    waiters, holders = found["waiters"][0], found["holders"][0]
    assert len(waiters) == len(holders) == 200
    assert waiters[:100] == [2.0] * 100 and waiters[100:] == [0.0] * 100
    assert holders[:100] == [2] * 100 and holders[100:] == [0] * 100


def test_holders_on_a_cpu_over_time():
    """First on a CPU, then off it half of the time, then not inspected."""
    profile = hot_lock()
    number = profile.sites[0].locks[0].number
    ms = 1_000_000

    def sample(at: int) -> WaiterSample:
        on, off = (1, 0) if at <= 400 else (1, 1) if at <= 800 else (0, 0)
        return WaiterSample(at * 10 * ms, number, 1, 2, 1, on, off)

    samples = tuple(sample(at) for at in range(1, 1001))
    found = timeline(replace(profile, waiters=samples, samples=1000), Names(profile))
    (shares,) = found["on_cpu"]
    assert shares == [1.0] * 80 + [0.5] * 80 + [None] * 40


def test_rare_waits_and_thinned_samples_keep_their_length():
    """One sample in a hundred has a waiter; each sample represents two intervals."""
    profile = hot_lock()
    number = profile.sites[0].locks[0].number
    rare = tuple(WaiterSample(at * SECOND, number, 1, 2, 2) for at in range(1, 11))
    found = timeline(replace(profile, waiters=rare, samples=1000), Names(profile))
    mean = sum(found["waiters"][0]) / len(found["waiters"][0])
    assert mean == pytest.approx(10 * 2 / 1000)


def test_a_late_sample_is_spread_over_the_time_it_represents():
    """The sampler did not run for a second, in which two threads waited."""
    profile = hot_lock()
    late = WaiterSample(3 * SECOND, profile.sites[0].locks[0].number, 2, 2, 100)
    found = timeline(replace(profile, waiters=(late,), samples=1000), Names(profile))
    waiters, holders = found["waiters"][0], found["holders"][0]
    assert waiters == [0.0] * 40 + [2.0] * 20 + [0.0] * 140
    assert holders == [0] * 40 + [2] * 20 + [0] * 140


def test_samples_made_up_for_at_once_fill_the_gap_before_them():
    """The sampler did not run for a second, and then took 100 samples in 1 ms."""
    profile = hot_lock()
    number = profile.sites[0].locks[0].number
    samples = tuple(
        WaiterSample(3 * SECOND + at * 10_000, number, 2, 2, 1) for at in range(100)
    )
    found = timeline(replace(profile, waiters=samples, samples=1000), Names(profile))
    waiters = found["waiters"][0]
    assert max(waiters) == 2.0
    assert waiters[41:59] == [2.0] * 18


def test_the_order_graph_goes_from_left_to_right():
    profile = everything()
    graph = order_graph(profile, Names(profile))
    at = {box.name.split()[0]: box for box in graph.boxes}
    assert at["db.c:88"].x < at["pool.cc:140"].x < at["x.cc:7"].x
    circular = {
        (a.outer.name[:2], a.inner.name[:2]) for a in graph.arrows if a.circular
    }
    assert circular == {("db", "lo"), ("lo", "db")}
    assert [a.inner.name for a in graph.arrows if a.by_try] == [
        "table.c:31 &bucket->lock"
    ]
    places = [(box.x, box.y) for box in graph.boxes]
    assert len(set(places)) == len(places)


def test_trylocks_may_form_cycles():
    """A cycle of trylocks cannot deadlock, and must not confuse the layers."""
    profile = deadlock()
    first, second = profile.lock_order
    profile = replace(profile, lock_order=(first, replace(second, by_try=True)))
    graph = order_graph(profile, Names(profile))
    assert not any(arrow.circular for arrow in graph.arrows)
    assert len({box.x for box in graph.boxes}) == 2


def test_a_site_nested_in_itself_is_drawn():
    """Two nested locks of one site."""
    profile = hot_lock()
    pool = profile.sites[2].locks
    edge = OrderedPair(pool[0].number, pool[1].number, 3, False, ())
    profile = replace(profile, lock_order=(edge,))
    graph = order_graph(profile, Names(profile))
    assert len(graph.boxes) == len(graph.arrows) == 1
    assert not graph.arrows[0].circular
    # The same two locks in the other order.
    event = Event("order-inversion", 2, edge.outer, edge.inner, 1, 0, ())
    back = replace(edge, outer=edge.inner, inner=edge.outer)
    profile = replace(profile, lock_order=(edge, back), events=(event,))
    (arrow,) = order_graph(profile, Names(profile)).arrows
    assert arrow.circular and arrow.count == 6


@pytest.fixture(scope="module")
def browser():
    yield from headless()


def column(browser, table, place):
    script = """return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
        .map((row) => row.cells[arguments[1]].textContent)"""
    return browser.execute_script(script, table, place)


def filter_by(browser, place, text):
    browser.execute_script(
        """const box = document.querySelectorAll("#sites thead input")[arguments[0]];
        box.value = arguments[1];
        box.dispatchEvent(new Event("input"));""",
        place,
        text,
    )


@pytest.mark.slow
def test_the_page_in_a_browser(browser, page):
    visit(browser, page)
    assert column(browser, "sites", 0)[0] == "db.c:88 &db->mu"
    # Sort by name, then in the other direction.
    click(browser, "#sites th button")
    names = column(browser, "sites", 0)
    assert names == sorted(names) and len(names) == 5
    click(browser, "#sites th button")
    assert column(browser, "sites", 0) == names[::-1]
    # Filter.
    filter_by(browser, 2, "> 3.5 %")
    assert len(column(browser, "sites", 0)) == 2
    filter_by(browser, 5, ">= 1ms")
    assert "table.c:31 &bucket->lock" in column(browser, "sites", 0)
    filter_by(browser, 0, "BUCKET")
    assert column(browser, "sites", 0) == ["table.c:31 &bucket->lock"]
    assert text_of(browser, "shown") == "1 of 5 sites"
    # A row shows its own histograms, stacks and locks.
    click(browser, "#sites tbody tr")
    assert text_of(browser, "site-title") == "table.c:31 &bucket->lock"
    assert "make_it at table.c:31" in text_of(browser, "stacks")
    assert "64 locks" in text_of(browser, "members")
    assert len(column(browser, "locks", 0)) == 20
    bars = "return document.getElementById('histograms').data.map((one) => one.name)"
    assert browser.execute_script(bars) == ["waits", "holds", "handovers"]
    # The flame graph by wait, then by hold.
    total = "return document.getElementById('flame').data[0].values[0]"
    waiting = browser.execute_script(total)
    click(browser, "#flame-hold")
    assert browser.execute_script(total) != waiting
    # The timeline of another lock.
    held = "return document.getElementById('timeline').data.map((one) => one.name)"
    assert len(browser.execute_script(held)) == 5
    browser.execute_script(
        """const box = document.getElementById("lock"); box.selectedIndex = 1;
        box.dispatchEvent(new Event("change"));"""
    )
    assert browser.execute_script(held) == ["waiters", "held by 3 worker-3"]
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_dark_and_light(browser, page):
    ink = "return getComputedStyle(document.body).color"
    drawn = """return getComputedStyle(document.querySelector(
        "#histograms .xtick text")).fill"""
    visit(browser, page)
    light = browser.execute_script(ink), browser.execute_script(drawn)
    click(browser, "#theme")
    dark = browser.execute_script(ink), browser.execute_script(drawn)
    assert light[0] == light[1] != dark[0] == dark[1]
    # The printed page is white.
    browser.execute_script("window.onbeforeprint()")
    assert browser.execute_script(ink) == light[0]
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_the_page_on_a_phone(browser, page):
    assert_fits_a_phone(browser, page)


@pytest.mark.slow
def test_the_page_with_a_screen_reader_and_a_keyboard(browser, page):
    visit(browser, page)
    assert_can_be_heard(browser)


@pytest.mark.slow
def test_the_figures_look_as_before(browser, page, tmp_path):
    visit(browser, page, TALL)
    names = ["histograms", "flame", "overview", "timeline", "order", "moments"]
    found = pictures(browser, tmp_path, names)
    assert_looks_as_before(found, Path(__file__).parent / "page_figures.png")


@pytest.mark.slow
def test_an_empty_profile_in_a_browser(browser, tmp_path):
    for name in ("unlocked", "idle"):
        path = tmp_path / f"{name}.html"
        path.write_text(render(SAMPLES[name]()))
        visit(browser, path)
        assert browser.get_log("browser") == []
