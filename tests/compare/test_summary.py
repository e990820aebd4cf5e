# SPDX-License-Identifier: MIT
"""Tests the verdicts, power and warnings of comparisons with known runs."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from compare.comparisons import comparison_of

from hasp.compare import report
from hasp.compare.doubts import doubts
from hasp.compare.settings import Metric, Settings
from hasp.compare.store import Comparison
from hasp.compare.summary import power, summarise


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
    # If no number of threads is given, the warning suggests one.
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
    """Return random wall times around one second, different for each number."""
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
    assert report.remarks(compared, rows, [])[-1] == (
        f"power (wall time): 7 runs and 2 verdicts find a difference of "
        f"{100 * found.detectable:.0f} % in 80 % of comparisons; 5 % needs "
        f"--runs {found.runs_needed} or fewer locks"
    )
    steady = comparison_of({lock: noisy(0, 0.01) for lock in ("glibc", "mcs")})
    (words,) = report.remarks(steady, summarise(steady), [])
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


def test_verdicts_on_rates_are_reversed():
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


def test_without_runs_of_glibc_there_are_no_ratios():
    compared = comparison_of({"glibc": [], "mcs": [1.0], "futex": [1.1]})
    figures, resources = report.grids(compared, summarise(compared))
    assert [line[2] for line in figures.lines] == ["-", "-"]
    assert [line[2] for line in resources.lines] == ["-", "-"]
