# SPDX-License-Identifier: MIT
"""Tests the output of `hasp compare`, its files and its warnings."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest
from compare.comparisons import HOST, comparison_of

from hasp.compare import report as comparison
from hasp.compare.doubts import doubts
from hasp.compare.settings import Settings
from hasp.compare.store import SCHEMA
from hasp.compare.summary import summarise

from .conftest import RUN_HASP
from .test_compare import FIGURE


@pytest.fixture(scope="module")
def files(stand_in, tmp_path_factory):
    """Return one finished comparison and the folder with all its output files."""
    folder = tmp_path_factory.mktemp("outputs")
    program = folder / "program"
    program.write_text(f'#!/bin/sh\n[ "$HASP_LOCK" = ticket ] && exit 3\n{FIGURE}\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "HASP_NATIVE_DIR": str(stand_in),
        "XDG_CACHE_HOME": str(folder),
    }
    environment.pop("HASP_LOCK", None)
    finished = subprocess.run(
        [
            *(sys.executable, "-c", RUN_HASP, "compare", "--runs", "3", "--seed", "1"),
            *("--metric", r"throughput=rate: (\d+)", "--unit", "ops/s"),
            *("--threads", "2,8", "--json", "out.jsonl", "--csv", "out.csv"),
            *("--markdown", "out.md", "--plot", "out.png", "--", program, "{threads}"),
        ],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=50,
    )
    return finished, folder


def test_the_table_fits_80_columns(files):
    finished, _ = files
    assert finished.returncode == 1
    assert max(map(len, finished.stdout.splitlines())) <= 80
    rows = [line.split() for line in finished.stdout.splitlines()]
    assert ["2", "glibc", "100", "1.00", "3", "reference"] in rows
    assert ["8", "mcs", "50.0", "0.50", "3", "cannot", "tell"] in rows
    assert ["8", "ticket", "failed"] in rows
    text = " ".join(finished.stdout.split())
    assert "throughput, ops/s (higher is better)" in text
    assert "ticket (2 threads): failed in 2 of 2 runs: exit status 3" in text
    assert "warning: 3 runs are too few for a verdict" in text
    assert "power" not in text
    assert "ttas, ticket, mcs: waiters only spin" in text
    assert "\033[" not in finished.stdout


def test_json_schema(files):
    _, folder = files
    lines = [
        json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()
    ]
    assert {line["schema"] for line in lines} == {SCHEMA}
    header = lines[0]
    assert header["kind"] == "comparison"
    assert header["command"] == [str(folder / "program"), "{threads}"]
    assert header["reference"] == "glibc"
    assert set(header) >= {"hasp_version", "started", "settings", "locks", "machine"}
    assert set(header["machine"]) == set(HOST)
    assert header["settings"]["seed"] == 1
    runs = [line for line in lines if line["kind"] == "run"]
    # There are four rounds of six locks and two numbers of threads, but ticket runs
    # only twice.
    assert len(runs) == 4 * 2 * 5 + 2 * 2
    assert set(runs[0]) == {
        *("schema", "kind", "block", "warmup", "lock", "threads", "outcome", "detail"),
        *("started_s", "exit_code", "wall_s", "user_s", "system_s", "peak_bytes"),
        *("switches", "preemptions", "load_user_s", "load_system_s"),
        *("load_peak_bytes", "steal", "throttled", "figures"),
        *("other_s", "other_load", "heated", "energy_j"),
    }
    summary = [
        line
        for line in lines
        if line["kind"] == "summary" and line.get("measure") == "throughput"
    ]
    assert len(summary) == 2 * 5
    assert set(summary[0]) == {
        *("schema", "kind", "lock", "threads", "measure", "unit", "lower_is_better"),
        *("runs", "median", "ratio_to_glibc", "ratio_low", "ratio_high", "verdict"),
    }
    kinds = {line["kind"] for line in lines}
    assert kinds == {"comparison", "run", "summary", "power", "warning"}
    (power,) = [line for line in lines if line["kind"] == "power"]
    assert power == {
        "schema": SCHEMA,
        "kind": "power",
        "measure": "throughput",
        "runs": 3,
        "verdicts": 2 * 5,
        "probability": 0.8,
        "detectable": None,
        "target": 0.05,
        "runs_needed": 5,
    }
    resources = [line for line in lines if line.get("measure") == "wall time"]
    verdicts = {line["verdict"] for line in resources}
    assert verdicts == {"reference", None}, (
        "only the program's own figures get verdicts"
    )
    assert {line["ratio_low"] for line in resources} == {None}


def test_csv(files):
    _, folder = files
    with (folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 44
    good = [row for row in rows if row["lock"] == "mcs"]
    assert {row["throughput"] for row in good} == {"50.0"}
    assert {row["outcome"] for row in rows if row["lock"] == "ticket"} == {"failed"}


def test_markdown(files):
    _, folder = files
    text = (folder / "out.md").read_text()
    assert (
        "| threads | lock | median | ratio | 95 % interval | runs | verdict |" in text
    )
    assert "| 8 | mcs | 50.0 | 0.50 |  | 3 | cannot tell |" in text
    assert "| 8 | ticket | failed |  |  |  |  |" in text
    assert "- warning: 3 runs" in text
    for table in text.split("\n\n"):
        if table.startswith("|"):
            assert len({line.count("|") for line in table.splitlines()}) == 1


def is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG\r\n")


def test_the_plot_is_an_image(files):
    _, folder = files
    assert is_png(folder / "out.png")
    assert (folder / "out.png").stat().st_size > 10_000


def test_results_can_be_shown_again(files, cli, tmp_path):
    finished, folder = files
    again = cli(
        *("compare", "--from", folder / "out.jsonl", "--csv", "again.csv"),
        *("--plot", "again.svg", "--markdown", "again.md"),
    )
    assert again.returncode == 1
    assert again.stdout == finished.stdout
    assert (tmp_path / "again.csv").read_text() == (folder / "out.csv").read_text()
    assert (tmp_path / "again.md").read_text() == (folder / "out.md").read_text()
    picture = xml.etree.ElementTree.parse(tmp_path / "again.svg")
    text = " ".join(picture.getroot().itertext())
    for word in ("glibc", "mcs-park", "failed", "throughput", "0.50", "8 threads"):
        assert word in text


def test_dollar_signs_in_a_command_are_no_formula(cli, tmp_path):
    command = ("sh", "-c", r": $1 \frac $2")
    finished = cli(
        *("compare", "--locks", "mcs", "--runs", 1, "--plot", "x.svg", "--", *command)
    )
    assert finished.returncode == 0, finished.stderr
    picture = xml.etree.ElementTree.parse(tmp_path / "x.svg")
    assert r"$1 \frac $2" in "".join(picture.getroot().itertext())


def test_runs_are_shown_although_their_file_cannot_grow(cli, tmp_path):
    limit = "prlimit --fsize=$(stat -c %s out.jsonl) --pid $PPID"
    prepare = f"echo x >> count; [ $(wc -l < count) -lt 6 ] || {limit}"
    finished = cli(
        *("compare", "--locks", "mcs", "--warmup", 0, "--prepare", prepare),
        *("--json", "out.jsonl", "--", "true"),
    )
    assert finished.returncode == 2
    assert "cannot write out.jsonl: File too large" in finished.stderr
    assert "interrupted: these are the runs until then" in finished.stdout
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert len([line for line in lines if '"kind":"run"' in line]) == 5


def test_a_last_line_that_was_cut_is_left_out(files, cli, tmp_path):
    _, folder = files
    runs = [
        line
        for line in (folder / "out.jsonl").read_bytes().splitlines(keepends=True)
        if b'"kind":"run"' in line or b'"kind":"comparison"' in line
    ]
    for name, lines in {"whole": runs[:-1], "cut": [*runs[:-1], runs[-1][:99]]}.items():
        (tmp_path / name).write_bytes(b"".join(lines))
    whole, cut = (cli("compare", "--from", name) for name in ("whole", "cut"))
    assert whole.stdout
    assert cut.stdout == whole.stdout, cut.stderr
    (tmp_path / "broken").write_bytes(b"".join([runs[0], runs[1][:99], b"\n", runs[2]]))
    assert "not a file of results" in cli("compare", "--from", "broken").stderr


def test_a_plot_over_threads_has_curves(cli, script, tmp_path):
    finished = cli(
        *("compare", "--locks", "mcs,futex", "--threads", "1,2,4", "--runs", 2),
        *("--warmup", 0, "--plot", "curves.svg", "--", script(""), "{threads}"),
    )
    assert finished.returncode == 0, finished.stderr
    picture = xml.etree.ElementTree.parse(tmp_path / "curves.svg")
    text = " ".join(picture.getroot().itertext())
    assert "glibc = 1" in text
    assert "threads" in text


def test_a_file_without_results(cli, tmp_path):
    half = (
        '{"schema":"hasp.compare/2","kind":"comparison","settings":{"command":["x"]}}\n'
    )
    other = '{"schema":"hasp.list/1","kind":"x"}\n'
    for content in ("", "{}\n", "not json\n", "3\n", other, half):
        (tmp_path / "x.jsonl").write_text(content)
        finished = cli("compare", "--from", "x.jsonl")
        assert finished.returncode == 2
        assert "not a file of results" in finished.stderr
    assert cli("compare", "--from", "none.jsonl").returncode == 2


def test_the_format_of_figures():
    shown = [
        comparison.quantity(v, u)
        for v, u in ((1234567, ""), (0.5, "s"), (3e6, "bytes"))
    ]
    assert shown == ["1,234,567", "500 ms", "2.86 MiB"]
    assert comparison.ratio_text(0.0123) == "0.012"
    assert comparison.ratio_text(33.53) == "33.5"
    assert comparison.ratio_text(123.4) == "123"
    assert comparison.ratio_text(float("inf")) == "inf"


def test_long_names_and_thread_counts_fit_80_columns(capsys):
    longest = "gcr+c-bo-mcs-park"
    times = {"glibc": [1.234] * 7, longest: [12.34] * 7}
    settings = Settings(("./program",), tuple(times), threads=(16, 128), runs=7)
    compared = comparison_of(times, settings=settings)
    rows = summarise(compared)
    comparison.print_comparison(compared, rows, doubts(compared, rows))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    (wall, resources) = (line for line in lines if longest in line and "16 " in line)
    assert "10.0" in wall and "10.00" not in wall
    assert resources.split()[-1] == "1.00"
    assert not any("\u2026" in line for line in lines)
