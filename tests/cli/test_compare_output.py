# SPDX-License-Identifier: MIT
"""The output of `hasp compare`, its files and its warnings."""

from __future__ import annotations

import csv
import json
import math
import os
import random
import subprocess
import sys
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from hasp.compare import report as comparison
from hasp.compare.doubts import doubts
from hasp.compare.run_record import Run
from hasp.compare.settings import Metric, Settings
from hasp.compare.store import SCHEMA, Comparison
from hasp.compare.summary import power, summarise

from .conftest import RUN_HASP
from .test_compare import FIGURE

HOST = {
    "hostname": "bench",
    "architecture": "x86_64",
    "cpu_model": "A CPU",
    "cpus_online": 2,
    "cpus_allowed": 2,
    "cpu_quota": None,
    "numa_nodes": 1,
    "memory_bytes": 1 << 34,
    "kernel": "6.1",
    "libc": "glibc 2.36",
    "load_average": 0.1,
}


def comparison_of(times, *, settings=None, host=None, **changes) -> Comparison:
    """A comparison with the given wall times: {lock: [seconds of round 1, 2, ...]}."""
    names = list(times)
    settings = settings or Settings(
        ("./program",), tuple(names), runs=len(times["glibc"])
    )
    spinning = ("ttas", "ticket", "mcs")
    compared = Comparison(
        settings=settings,
        host={**HOST, **(host or {})},
        locks=[
            {"name": n, "waiting": "spin", "collapses": n in spinning} for n in names
        ],
        version="1",
        started="2026-01-01T00:00:00+00:00",
    )
    for lock, seconds in times.items():
        for block, value in enumerate(seconds, start=1):
            fields = {"user_s": value, "system_s": 0.0, "peak_bytes": 1 << 26}
            run = {"outcome": "ok", "wall_s": value, **fields, **changes}
            if value is None:
                run |= {"outcome": "hung", "detail": "did not end within 60 s"}
            compared.runs.append(Run(block, lock, settings.threads[0], **run))
    return compared


def warned(compared: Comparison) -> dict[str, str]:
    return {doubt.kind: doubt.words for doubt in doubts(compared, summarise(compared))}


STEADY = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0]


def test_a_clean_study_has_no_warnings():
    assert warned(comparison_of({"glibc": STEADY, "futex": STEADY})) == {}


def test_warnings():
    few = comparison_of({"glibc": [1.0, 1.1, 1.0], "futex": [1.0, 1.1, 1.0]})
    assert "3 runs are too few for a verdict" in warned(few)["few_runs"]
    assert "--runs 5" in warned(few)["few_runs"]
    short = comparison_of({"glibc": [0.01] * 7, "futex": [0.01] * 7})
    assert "take only 10 ms" in warned(short)["too_short"]
    far = comparison_of({"glibc": STEADY, "futex": [*STEADY[:-1], 9.0]})
    assert "futex 1 of 7" in warned(far)["outliers"]
    cold = [2.0, *STEADY[1:]]
    assert (
        "--warmup 2"
        in warned(comparison_of({"glibc": cold, "futex": cold}))["first_run_slow"]
    )
    wild = comparison_of(
        {"glibc": STEADY, "futex": [0.5, 2.0, 0.6, 1.9, 0.5, 1.8, 1.0]}
    )
    assert "cannot tell futex" in warned(wild)["cannot_tell"]
    unsteady = comparison_of(
        {"glibc": [0.5, 1.5, 0.7, 1.4, 1.0, 0.6, 1.3], "futex": STEADY}
    )
    assert "half the runs of glibc lie 40 %" in warned(unsteady)["noisy"]
    stolen = comparison_of({"glibc": STEADY, "futex": STEADY}, steal=0.2)
    assert "20 % of the CPU time" in warned(stolen)["steal"]
    throttled = comparison_of({"glibc": STEADY, "futex": STEADY}, throttled=2)
    assert "28 times" in warned(throttled)["throttled"]
    hot = comparison_of({"glibc": STEADY, "futex": STEADY}, heated=2)
    assert "28 times" in warned(hot)["heat"]
    shared = comparison_of({"glibc": STEADY, "futex": STEADY}, other_load=0.3)
    assert "used 30 % of the CPU time" in warned(shared)["other_load"]
    quota = comparison_of({"glibc": STEADY, "futex": STEADY}, host={"cpu_quota": 1.5})
    assert "quota is 1.5 CPUs" in warned(quota)["quota"]
    busy = comparison_of({"glibc": STEADY, "futex": STEADY}, host={"load_average": 7.0})
    assert "load average 7.0" in warned(busy)["busy_host"]


def test_oversubscribed_spinning_locks_are_warned_of():
    many = Settings(("p",), ("glibc", "mcs", "futex"), (8,), runs=7)
    compared = comparison_of(
        {"glibc": STEADY, "mcs": STEADY, "futex": STEADY}, settings=many
    )
    assert warned(compared)["oversubscribed"].startswith("mcs: waiters only spin")
    two = Settings(("p",), ("glibc", "mcs", "futex"), (2,), runs=7)
    compared = comparison_of(
        {"glibc": STEADY, "mcs": STEADY, "futex": STEADY}, settings=two
    )
    assert warned(compared) == {}
    # Without a number of threads, the result suggests it.
    slow = comparison_of({"glibc": STEADY, "mcs": [9 * t for t in STEADY]})
    assert warned(slow)["oversubscribed"].startswith("mcs")
    hung = comparison_of({"glibc": STEADY, "ticket": [None, None]})
    assert warned(hung)["oversubscribed"].startswith("ticket")


def test_verdicts():
    compared = comparison_of(
        {
            "glibc": STEADY,
            "futex": [0.8 * t for t in STEADY],
            "mcs": [1.5 * t for t in STEADY],
            "clh": STEADY,
            "ttas": [0.5, 2.0, 0.6, 1.9, 0.5, 1.8, 1.0],
        }
    )
    verdicts = {
        row.cell.lock: row.entry(compared.primary).verdict
        for row in summarise(compared)
    }
    wanted = ("", "better", "worse", "same", "cannot tell")
    assert tuple(verdicts.values()) == wanted


def noisy(lock: int, spread: float, runs: int = 7) -> list[float]:
    """Random wall times around one second, different for each number."""
    source = random.Random(lock)
    return [math.exp(source.gauss(0, spread)) for _ in range(runs)]


def test_equal_locks_get_no_verdict():
    times = {"glibc": noisy(0, 0.3)}
    times |= {f"lock{number}": noisy(number, 0.3) for number in range(1, 46)}
    compared = comparison_of(times)
    verdicts = {row.entry(compared.primary).verdict for row in summarise(compared)}
    assert verdicts == {"", "cannot tell"}


def test_the_intervals_allow_for_every_verdict_of_the_comparison():
    settings = Settings(("p",), ("glibc", "mcs"), runs=7)
    widths = []
    for threads in ((2,), (2, 4, 8, 16)):
        compared = comparison_of(
            {"glibc": noisy(0, 0.1), "mcs": noisy(1, 0.1)},
            settings=replace(settings, threads=threads),
        )
        ratio = summarise(compared)[1].entry(compared.primary).ratio
        widths.append(ratio.high / ratio.low)
    assert widths[1] > widths[0]


def test_the_power_of_a_comparison():
    times = {"glibc": noisy(0, 0.1), "mcs": noisy(1, 0.1), "clh": noisy(2, 0.1)}
    compared = comparison_of(times)
    rows = summarise(compared)
    (found,) = power(compared, rows)
    assert (found.runs, found.verdicts) == (7, 2)
    assert found.detectable > 0.05 and found.runs_needed > 7
    assert comparison.remarks(compared, rows, [])[-1] == (
        f"power (wall time): 7 runs and 2 verdicts find a difference of "
        f"{100 * found.detectable:.0f} % in 80% of comparisons; 5 % needs "
        f"--runs {found.runs_needed} or fewer locks"
    )
    steady = comparison_of({lock: noisy(0, 0.01) for lock in ("glibc", "mcs")})
    (words,) = comparison.remarks(steady, summarise(steady), [])
    assert words.endswith("of comparisons")


def test_figures_without_a_logarithm_get_no_verdict():
    settings = Settings(
        ("p",), ("glibc", "mcs"), runs=7, metrics=(Metric("lost", "(.)"),)
    )
    compared = comparison_of({"glibc": STEADY, "mcs": STEADY}, settings=settings)
    compared.runs = [
        replace(run, figures={"lost": 3.0 if run.lock == "mcs" else 0.0})
        for run in compared.runs
    ]
    entry = summarise(compared)[1].entry(compared.primary)
    assert (entry.ratio.value, entry.verdict) == (math.inf, "cannot tell")
    assert warned(compared)["not_positive"].startswith("lost has figures")


def test_verdicts_of_rates_are_the_other_way_round():
    settings = Settings(
        ("p",), ("glibc", "mcs"), runs=7, metrics=(Metric("rate", "(.)"),)
    )
    compared = comparison_of({"glibc": STEADY, "mcs": STEADY}, settings=settings)
    compared.runs = [
        replace(run, figures={"rate": 5.0 if run.lock == "mcs" else 9.0})
        for run in compared.runs
    ]
    assert summarise(compared)[1].entry(compared.primary).verdict == "worse"


def test_only_blocks_with_both_runs_are_paired():
    compared = comparison_of({"glibc": STEADY, "futex": STEADY})
    compared.runs = [
        run
        for run in compared.runs
        if (run.lock, run.block) not in {("glibc", 1), ("futex", 2)}
    ]
    ratio = summarise(compared)[1].entry(compared.primary).ratio
    assert ratio.blocks == 5


@pytest.fixture(scope="module")
def files(stand_in, tmp_path_factory):
    """The finished command and the folder of one comparison with all its outputs."""
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
    # Four rounds of six locks and two numbers of threads, but only two runs of ticket.
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
    assert verdicts == {"reference", None}, "judged are the program's figures alone"
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


def test_the_plot_is_a_picture(files):
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
