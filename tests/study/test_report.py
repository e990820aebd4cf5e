# SPDX-License-Identifier: MIT
"""Tests the report on a store: its sentences, and its page in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy
import pytest
from pages import (
    TALL,
    assert_can_be_heard,
    assert_fits_a_phone,
    assert_looks_as_before,
    click,
    differences,
    headless,
    pictures,
    text_of,
    visit,
)

from hasp.cli.main import main
from hasp.study.report.origin import origins

LOCKS = {"mcs": 1.0, "clh": 0.98, "ttas": 0.4}
PROGRAMS = ("db", "web", "</script><b>odd")
FIGURE_FILES = ("coverage", "programs", "superiority", "scalability", "against-tpp")
FIGURES = ["curves", "heat", "coverage", "superiority", "against"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Make a store with two machines.

    `web` does not depend on locks; the other programs do at 4 threads. Lower values of
    `latency` are better; it is 1000 divided by the throughput.
    """
    folder = tmp_path_factory.mktemp("report")
    source = numpy.random.default_rng(3)
    for machine in ("big", "small"):
        lines = ["program,lock,threads,throughput,tpp,latency"]
        for program in PROGRAMS:
            for lock, speed in LOCKS.items():
                for threads in (1, 4):
                    factor = 1.0 if program == "web" or threads == 1 else speed
                    for _ in range(5):
                        value = 1000 * threads * factor * source.normal(1, 0.002)
                        metrics = f"{value},{value / 9},{1e3 / value}"
                        lines.append(f"{program},{lock},{threads},{metrics}")
        path = folder / f"{machine}.csv"
        path.write_text("\n".join(lines) + "\n")
        words = ["study", "add", "--store", folder / "s", "--machine", machine, path]
        assert main([str(word) for word in words]) == 0
    return folder / "s"


def report(store, *words):
    return main(["study", "report", "--store", str(store), *map(str, words)])


@pytest.fixture(scope="module")
def page(store, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert report(store, "--html", path) == 0
    return path


def test_the_sentences_match_the_data(store, capsys):
    assert report(store, "--machine", "big") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "matters to 2 of 3 programs on big (throughput)" in text
    assert "a median of 2.5" in text
    assert "clh, mcs are within 5 % of the best for all of them" in text
    assert "Avoid ttas (100 %)" in text
    assert "0 % of the comparisons with the best lock are inconclusive" in text
    # Lower is better, so ttas takes 1 / 0.4 of the time of the best.
    assert "(latency): with up to 4 threads, the worst lock takes a median of" in text


def test_no_lock_is_to_be_avoided_that_the_runs_do_not_tell_from_the_best(
    tmp_path, capsys
):
    """As after an interruption: one run of each configuration."""
    path = tmp_path / "few.csv"
    rows = "db,mcs,2,1000\ndb,futex,2,700\n"
    path.write_text(f"program,lock,threads,throughput\n{rows}")
    words = ["--store", str(tmp_path / "s")]
    assert main(["study", "add", *words, "--machine", "m", str(path)]) == 0
    assert report(tmp_path / "s") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "the runs do not distinguish any lock from the best" in text
    assert "Avoid" not in text


def test_a_decline_under_every_lock_is_not_a_collapse(tmp_path, capsys):
    """`fixed` has constant work per thread; `weak` collapses under one lock only."""
    lines = ["program,lock,threads,throughput"]
    for lock, factor in (("pthread", 1.0), ("ttas", 0.1)):
        for run in range(3):
            for program, low, high in (("fixed", 900, 300), ("weak", 900, 1800)):
                lines.append(f"{program},{lock},1,{low + run}")
                lines.append(f"{program},{lock},2,{high * factor + run}")
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    store = tmp_path / "s"
    words = ["study", "add", "--store", store, "--machine", "m", tmp_path / "runs.csv"]
    assert main([str(word) for word in words]) == 0
    assert report(store) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "On fixed, throughput falls below half of its peak under every lock" in text
    assert "pthread's own lock is within 5 % of the best for 100 % of them" in text
    assert "On 1 program a lock collapses" in text


def test_the_first_screen_is_short(store, capsys):
    """The first metric is shown in full, the others in two sentences."""
    assert report(store, "--machine", "big") == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if line.startswith("big, ")]
    assert heads == ["big, throughput", "big, latency", "big, tpp"]
    assert max(map(len, lines)) <= 80
    latency = lines[lines.index("big, latency") : lines.index("big, tpp")]
    assert sum(line.startswith("- ") for line in latency) == 2


def test_json_matches_the_text(store, capsys):
    assert report(store, "--machine", "small", "--json") == 0
    first, second, _ = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["sensitive"] == [True, True, False]  # "</script>..." comes first
    assert first["best"][1] == ["mcs", "clh"]
    assert first["correlation"]["tpp"][1] == 1
    # The value is the measured one, although the statistics invert it.
    assert second["metric"] == "latency" and second["lower_is_better"]
    ttas = second["values"][1][second["locks"].index("ttas")]
    assert ttas == pytest.approx([1.0, 0.625], rel=0.01)
    assert second["coverage"] == first["coverage"]
    assert second["best"][1] == first["best"][1]


def test_the_page_is_self_contained(page):
    text = page.read_text()
    # Plotly's code contains URLs of maps, but the page must not load anything.
    assert not re.search(r"<(script|img)[^>]+src=|<link|@import|url\(http", text)
    assert "</script><b>odd" not in text


def test_markdown_latex_and_figures(store, tmp_path):
    folder = tmp_path / "parts"
    words = ("--latex", folder, "--figures", folder, "--formats", "svg")
    text = tmp_path / "report.md"
    words = (*words, "--metric", "throughput,tpp")
    assert report(store, "--machine", "big", "--markdown", text, *words) == 0
    said = text.read_text()
    assert "| db | 2.5" in said
    assert "| &lt;/script>&lt;b>odd |" in said
    assert "Not lock-sensitive: web." in said
    assert "| ttas | 0 % | 0 % | 100 % | 100 % | 0 % |" in said
    assert "![scalability](parts/big-throughput-scalability.svg)" in said
    assert "- 90 runs of big.csv, added " in said
    table = (folder / "big-throughput-harmful.tex").read_text()
    assert "ttas & 100 & 100 \\\\" in table
    assert "big max pct" in table
    words = ("--figures", folder, "--formats", "png,pdf", "--metric", "throughput")
    assert report(store, "--machine", "big", *words) == 0
    heads = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for kind, head in heads.items():
        for name in FIGURE_FILES[: None if kind == "svg" else -1]:
            content = (folder / f"big-throughput-{name}.{kind}").read_bytes()
            assert content.startswith(head)


def test_unwritable_files_are_refused(store, tmp_path, capsys):
    assert report(store, "--html", tmp_path / "none/report.html") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_the_origin_of_the_runs_is_reported():
    batch = {
        "machine": "m",
        "runs": 5160,
        "source": "plan.toml",
        "added": "2026-11-21T2",
        "hasp_version": "1.0",
        "host": {
            "cpu_model": "CPU",
            "cpus_allowed": 2,
            "cpu_quota": None,
            "numa_nodes": 1,
            "memory_bytes": 8 << 30,
            "kernel": "6.1",
            "libc": "glibc 2.36",
        },
        "doubts": {"other load": 3},
        "failures": [
            {"program": "db", "lock": "x", "threads": 2, "outcome": "hung"},
        ],
    }
    assert origins([batch, {**batch, "machine": "other"}], "m") == [
        "5,160 runs of plan.toml by Hasp 1.0, until 2026-11-21, on CPU, 2 CPUs, 8 GiB, "
        "Linux 6.1, glibc 2.36.",
        "db under x (2 threads): hung, given up",
        "3 runs count although they were noisy (other load).",
    ]
    (said,) = origins(
        [{**batch, "simulated": "xeon-80", "failures": [], "doubts": {}}], "m"
    )
    assert said.endswith("2026-11-21: simulated, on the machine xeon-80.")


@pytest.fixture(scope="module")
def browser():
    yield from headless()


def rows(browser, table="programs"):
    script = """return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
        .map((row) => [...row.cells].map((cell) => cell.textContent))"""
    return browser.execute_script(script, table)


def choose(browser, name, value):
    browser.execute_script(
        """const select = document.getElementById(arguments[0]);
        select.value = arguments[1];
        select.dispatchEvent(new Event("change"));""",
        name,
        value,
    )


def filter_by(browser, table, column, text):
    browser.execute_script(
        """const box = document.querySelectorAll(
            `#${arguments[0]} thead input`)[arguments[1]];
        box.value = arguments[2];
        box.dispatchEvent(new Event("input"));""",
        table,
        column,
        text,
    )


def drawn(browser, figure, axis="x"):
    return browser.execute_script(
        "return document.getElementById(arguments[0]).data[0][arguments[1]]",
        figure,
        axis,
    )


@pytest.mark.slow
def test_the_page_in_a_browser(browser, page):
    visit(browser, page)
    assert {row[0] for row in rows(browser)} == {"db", "</script><b>odd"}
    assert drawn(browser, "heat") == ["clh", "mcs", "ttas"]
    choose(browser, "which", "all")
    assert len(rows(browser)) == 3
    choose(browser, "property", "fifo")
    assert drawn(browser, "heat") == ["clh", "mcs"]
    choose(browser, "property", "")
    choose(browser, "machine", "small")
    assert "on small" in text_of(browser, "verdict")
    click(browser, "#programs th button")  # by name
    assert [row[0] for row in rows(browser)] == ["</script><b>odd", "db", "web"]
    click(browser, "#programs tbody tr:last-child")
    assert text_of(browser, "curves-title") == "Scalability of web"
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_columns_filter_tables_and_figures(browser, page):
    visit(browser, page)
    filter_by(browser, "programs", 0, "DB, web")
    assert [row[0] for row in rows(browser)] == ["db"]
    assert drawn(browser, "heat", "y") == ["db"]
    filter_by(browser, "locks", 2, "< 50")  # harmful
    assert [row[0] for row in rows(browser, "locks")] == ["clh", "mcs"]
    assert drawn(browser, "heat") == drawn(browser, "superiority") == ["clh", "mcs"]
    filter_by(browser, "locks", 2, "100%")  # at least
    assert drawn(browser, "coverage") == ["ttas"]
    filter_by(browser, "locks", 2, "many")
    invalid = "return document.querySelectorAll('[aria-invalid=true]').length"
    assert browser.execute_script(invalid) == 1
    assert len(rows(browser, "locks")) == 3
    filter_by(browser, "locks", 2, "")
    filter_by(browser, "programs", 1, "> 9x")
    assert rows(browser) == []
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_another_metric_is_drawn_as_measured(browser, page):
    visit(browser, page)
    choose(browser, "other", "tpp")
    assert "r is a median of 1.00" in text_of(browser, "against-note")
    choose(browser, "metric", "latency")
    assert "(less is better)" in text_of(browser, "curves")
    curves = browser.execute_script(
        """return document.getElementById("curves").data.map((one) =>
            [one.name, one.y[1]])"""
    )
    assert dict(curves)["ttas"] == pytest.approx(0.625, rel=0.01)
    assert "</script><b>odd" in text_of(browser, "heat")  # not markup
    heat = browser.execute_script("return document.getElementById('heat').data[0].z[0]")
    assert heat == pytest.approx([98, 100, 40], rel=0.02)
    choose(browser, "other", "throughput")
    assert "r is a median of 1.00" in text_of(browser, "against-note")
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_the_page_on_a_phone(browser, page):
    assert_fits_a_phone(browser, page)


@pytest.mark.slow
def test_the_page_is_accessible(browser, page):
    visit(browser, page)
    assert_can_be_heard(browser)
    body = browser.find_element("css selector", "#programs tbody tr:last-child")
    name = body.find_elements("tag name", "td")[0].text
    body.send_keys("\ue007")  # the Enter key
    assert text_of(browser, "curves-title") == f"Scalability of {name}"
    focused = "return document.activeElement.cells[0].textContent"
    assert browser.execute_script(focused) == name


@pytest.mark.slow
def test_the_figures_look_unchanged(browser, page, tmp_path):
    """Filters affect the pictures, and without filters these look as before."""
    visit(browser, page, TALL)
    before = pictures(browser, tmp_path, FIGURES)
    filter_by(browser, "locks", 0, "mcs")
    assert differences(before["heat"], pictures(browser, tmp_path, ["heat"])["heat"])
    filter_by(browser, "locks", 0, "")
    again = pictures(browser, tmp_path, ["heat"])["heat"]
    assert not differences(before["heat"], again)
    assert_looks_as_before(before, Path(__file__).parent / "report_figures.png")
