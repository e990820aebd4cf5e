# SPDX-License-Identifier: MIT
"""The report of a store: its sentences, its page, and the page in a real browser."""

from __future__ import annotations

import json
import re
import shutil

import numpy
import pytest
from pages import assert_fits_a_phone

from hasp.cli.main import main

LOCKS = {"mcs": 1.0, "clh": 0.98, "ttas": 0.4}
PROGRAMS = ("db", "web", "</script><b>odd")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two machines; `web` does not care for locks, the others do at 4 threads."""
    folder = tmp_path_factory.mktemp("report")
    source = numpy.random.default_rng(3)
    for machine in ("big", "small"):
        lines = ["program,lock,threads,throughput,tpp"]
        for program in PROGRAMS:
            for lock, speed in LOCKS.items():
                for threads in (1, 4):
                    factor = 1.0 if program == "web" or threads == 1 else speed
                    for _ in range(5):
                        value = 1000 * threads * factor * source.normal(1, 0.002)
                        lines.append(f"{program},{lock},{threads},{value},{value / 9}")
        path = folder / f"{machine}.csv"
        path.write_text("\n".join(lines) + "\n")
        words = ["study", "add", "--store", folder / "s", "--machine", machine, path]
        assert main([str(word) for word in words]) == 0
    return folder / "s"


def report(store, *words):
    return main(["study", "report", "--store", str(store), *map(str, words)])


@pytest.fixture
def page(store, tmp_path):
    path = tmp_path / "report.html"
    assert report(store, "--html", path) == 0
    return path


def test_the_sentences_say_what_the_data_say(store, capsys):
    assert report(store, "--machine", "big") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "matters to 2 of 3 programs on big (throughput)" in text
    assert "a median of 2.5" in text
    assert "clh, mcs are within 5 % of the best for all of them" in text
    assert "Avoid ttas (100 %)" in text
    assert "0% of the comparisons with the best lock cannot tell" in text


def test_json_has_the_same(store, capsys):
    assert report(store, "--machine", "small", "--json") == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first["sensitive"] == [True, True, False]  # "</script>..." comes first
    assert first["best"][1] == ["mcs", "clh"]


def test_the_page_needs_nothing_else(page):
    text = page.read_text()
    # Plotly's own code knows addresses of maps; the page itself must load nothing.
    assert not re.search(r"<(script|img)[^>]+src=|<link|@import|url\(http", text)
    assert "</script><b>odd" not in text


def test_markdown_latex_and_figures(store, tmp_path):
    folder = tmp_path / "parts"
    words = ("--latex", folder, "--figures", folder, "--formats", "png,svg,pdf")
    text = tmp_path / "report.md"
    assert report(store, "--machine", "big", "--markdown", text, *words) == 0
    assert "| db | 2.5" in text.read_text()
    assert "| &lt;/script>&lt;b>odd |" in text.read_text()
    table = (folder / "big-throughput-harmful.tex").read_text()
    assert "ttas & 100 & 100 \\\\" in table
    assert "big max pct" in table
    heads = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for kind, head in heads.items():
        for name in ("coverage", "programs", "superiority", "against-tpp"):
            content = (folder / f"big-throughput-{name}.{kind}").read_bytes()
            assert content.startswith(head)


def test_files_that_cannot_be_written(store, tmp_path, capsys):
    assert report(store, "--html", tmp_path / "none/report.html") == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.fixture
def browser():
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("Chromium and its driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in ("--headless=new", "--no-sandbox", "--window-size=1200,1000"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(driver)
    window = webdriver.Chrome(options=options, service=service)
    yield window
    window.quit()


def rows(browser):
    script = """return [...document.querySelectorAll("#programs tbody tr")]
        .map((row) => [...row.cells].map((cell) => cell.textContent))"""
    return browser.execute_script(script)


def choose(browser, name, value):
    browser.execute_script(
        """const select = document.getElementById(arguments[0]);
        select.value = arguments[1];
        select.dispatchEvent(new Event("change"));""",
        name,
        value,
    )


def axis(browser, figure):
    return browser.execute_script(
        "return document.getElementById(arguments[0]).data[0].x", figure
    )


@pytest.mark.slow
def test_the_page_in_a_browser(browser, page):
    browser.get(f"file://{page}")
    assert {row[0] for row in rows(browser)} == {"db", "</script><b>odd"}
    assert set(axis(browser, "heat")) == set(LOCKS)
    choose(browser, "which", "all")
    assert len(rows(browser)) == 3
    choose(browser, "property", "fifo")
    assert set(axis(browser, "heat")) == {"mcs", "clh"}
    choose(browser, "machine", "small")
    verdict = browser.execute_script(
        "return document.getElementById('verdict').textContent"
    )
    assert "on small" in verdict
    browser.execute_script(
        "document.querySelector('#programs th').click()"  # by name
    )
    assert [row[0] for row in rows(browser)] == ["web", "db", "</script><b>odd"]
    browser.execute_script("document.querySelector('#programs tbody tr').click()")
    title = browser.execute_script(
        "return document.getElementById('curves-title').textContent"
    )
    assert title == "Scalability of web"
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_the_page_on_a_phone(browser, page):
    assert_fits_a_phone(browser, page)


@pytest.mark.slow
def test_the_screenshot_shows_figures(browser, page, tmp_path):
    """Not one colour: what draws nothing or throws would leave the paper white."""
    from matplotlib.image import imread

    browser.set_window_size(1200, 3200)
    browser.get(f"file://{page}")
    shot = tmp_path / "page.png"
    assert browser.save_screenshot(str(shot))
    picture = imread(shot)[..., :3]
    coloured = (picture.max(axis=2) - picture.min(axis=2)) > 0.25
    assert 0.05 < coloured.mean() < 0.6
