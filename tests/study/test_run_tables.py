# SPDX-License-Identifier: MIT
"""Tests tables from single runs: intervals, verdicts, collapse, interposition cost."""

from __future__ import annotations

import csv
import io
import math

import numpy
import pytest
from scipy import stats

from hasp.base.errors import HaspError
from hasp.cli.main import main
from hasp.statistics.grid import Grid
from hasp.statistics.interval import ratio_of_means
from hasp.study.catalogue import TABLES
from hasp.study.tables import Question

NAN = math.nan


def grid(values, programs=("db", "web"), locks=("a", "b"), sizes=(1, 4)):
    return Grid(programs, locks, sizes, numpy.array(values, float))


def rows(name, question):
    table = TABLES[name](question)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_the_interval_agrees_with_scipy():
    source = numpy.random.default_rng(5)
    one, other = source.normal(12, 2, 30), source.normal(10, 1, 20)
    found = ratio_of_means(one, other)
    interval = stats.bootstrap(
        (one, other),
        lambda x, y, axis=-1: x.mean(axis=axis) / y.mean(axis=axis),
        method="percentile",
        n_resamples=4000,
        random_state=numpy.random.default_rng(1),
    ).confidence_interval
    assert found.value == pytest.approx(one.mean() / other.mean())
    assert found.low == pytest.approx(interval.low, rel=0.01)
    assert found.high == pytest.approx(interval.high, rel=0.01)


def test_intervals_of_single_runs_and_of_none():
    assert ratio_of_means([2.0], [1.0, 1.0]).low is None
    assert ratio_of_means([2.0], [1.0]).value == 2.0
    assert math.isnan(ratio_of_means([], [1.0]).value)
    assert math.isnan(ratio_of_means([1.0], [0.0, 0.0]).value)


@pytest.mark.parametrize(("runs", "low", "high"), [(5, 0.85, 0.91), (10, 0.89, 0.95)])
def test_coverage_of_the_interval(runs, low, high):
    """The simulated coverage is the one stated in the docstring of the module."""
    source = numpy.random.default_rng(11)
    inside = 0
    for seed in range(600):
        one, other = source.normal(100, 8, (2, runs))
        found = ratio_of_means(one, other, seed=seed)
        inside += found.low <= 1.0 <= found.high
    assert low < inside / 600 < high


RUNS = {
    ("db", "a", 1): [10.0, 10.0],
    ("db", "a", 4): [100.0, 101.0, 99.0, 100.0],
    ("db", "b", 1): [30.0],
    ("db", "b", 4): [50.0, 51.0, 49.0, 50.0],
    ("web", "a", 1): [5.0, 15.0],
    ("web", "b", 1): [9.0, 8.0],
}


def question(**options):
    programs, locks, sizes = ("db", "web"), ("a", "b"), (1, 4)
    inverted = options.get("inverted", False)
    values = [
        [
            [float(numpy.mean(RUNS.get((p, k, s), [NAN]))) ** (-1 if inverted else 1)
             for s in sizes]
            for k in locks
        ]
        for p in programs
    ]  # fmt: skip
    machine = {"M": grid(values, programs, locks, sizes)}
    return Question(machine, runs={"M": RUNS}, **options)


def test_means_with_students_interval():
    found = {
        (row["application"], row["lock"], row["size"]): row
        for row in rows("means", question())
    }
    row = found["web", "a", 1]
    low, high = stats.t.interval(0.95, 1, loc=10, scale=stats.sem([5.0, 15.0]))
    assert (row["runs"], row["mean"]) == (2, 10.0)
    assert row["low"] == pytest.approx(low, rel=1e-3)
    assert row["high"] == pytest.approx(high, rel=1e-3)
    single = found["db", "b", 1]
    assert (single["mean"], single["low"], single["high"]) == (30.0, None, None)


def test_verdicts_at_a_point_of_view():
    found = {
        (row["application"], row["lock"]): row for row in rows("verdicts", question())
    }
    assert found["db", "a"]["verdict"] == "best"
    assert found["db", "a"]["p_holm"] is None
    worse = found["db", "b"]
    assert worse["verdict"] == "worse"
    assert worse["ratio_to_best"] == 0.5
    assert worse["low"] < 0.5 < worse["high"]
    p = stats.ttest_ind(RUNS["db", "a", 4], RUNS["db", "b", 4], equal_var=False).pvalue
    assert worse["p_holm"] == pytest.approx(p, rel=1e-3)
    assert found["web", "b"]["verdict"] == "cannot tell"
    one = {
        (row["application"], row["lock"]): row
        for row in rows("verdicts", question(at="one"))
    }
    assert one["db", "b"]["verdict"] == "best"
    assert one["db", "b"]["runs"] == 1
    opt = rows("verdicts", question(at="opt"))
    assert {row["verdict"] for row in opt if row["application"] == "db"} == {
        "best", "worse",
    }  # fmt: skip


def test_verdicts_if_lower_is_better():
    found = {
        (row["application"], row["lock"]): row
        for row in rows("verdicts", question(inverted=True))
    }
    assert found["db", "b"]["verdict"] == "best"
    assert found["db", "a"]["ratio_to_best"] == pytest.approx(0.5, rel=0.01)


def test_collapse_lists_the_loss():
    values = [[[10, 40, 15], [10, 30, 29]], [[5, 4, 2], [NAN, NAN, NAN]]]
    found = rows("collapse", Question({"M": grid(values, sizes=(1, 2, 4))}))
    assert found == [
        {"application": "db", "lock": "a", "best_size": 2, "left_at_largest_pct": 38},
        {"application": "web", "lock": "a", "best_size": 1, "left_at_largest_pct": 40},
    ]
    sizes = rows("optimal-sizes", Question({"M": grid(values, sizes=(1, 2, 4))}))
    assert [(row["lock"], row["best_size"]) for row in sizes] == [
        ("a", 2), ("b", 2), ("a", 1),
    ]  # fmt: skip


def test_native_against_interposed_is_a_paired_t_test():
    """The test uses logarithms; the expected values are from scipy."""
    source = numpy.random.default_rng(2)
    native = source.uniform(1, 100, (2, 2, 2))
    interposed = native * source.normal(0.97, 0.01, (2, 2, 2))
    names = ("db", "web"), ("a", "b"), (1, 4)
    two = {"native": grid(native, *names), "hasp": grid(interposed, *names)}
    found = rows("interposed", Question(two))
    assert [row["application"] for row in found] == ["db", "web", "all"]
    pairs = [numpy.log(x[0].ravel()) for x in (interposed, native)]
    assert found[0]["p_value"] == pytest.approx(
        stats.ttest_rel(*pairs).pvalue, rel=1e-3
    )
    change = 100 * (math.exp((pairs[0] - pairs[1]).mean()) - 1)
    assert found[0]["change_pct"] == pytest.approx(change, rel=1e-3)
    assert found[2]["pairs"] == 8
    assert found[2]["high_pct"] < 0
    assert all(row["p_holm"] >= row["p_value"] for row in found)


def test_two_locks_of_a_machine_as_native_and_interposed():
    values = [[[10, NAN], [11, 5]], [[20, 30], [22, 33]], [[1, 8], [1.1, 8.8]]]
    one = {"M": grid(values, ("x", "y", "z"), ("glibc", "futex"))}
    found = rows("interposed", Question(one))
    assert [(row["size"], row["pairs"]) for row in found] == [
        (1, 3),
        (4, 2),
        ("all", 5),
    ]
    assert [row["change_pct"] for row in found] == pytest.approx([10, 10, 10])
    single = {"M": grid(values[:1], ("x",), ("glibc", "futex"))}
    assert rows("interposed", Question(single))[0]["p_value"] is None
    with pytest.raises(HaspError, match="no runs under 'mcs'"):
        rows("interposed", Question(one, locks=("mcs", "futex")))


DATA = """\
program,lock,threads,throughput,p99
db,glibc,2,100,10
db,glibc,2,102,11
db,futex,2,101,10
db,futex,2,103,12
web,glibc,2,50,0
web,futex,2,49,5
web,glibc,1,70,3
web,futex,1,20,4
"""


def test_the_command_prints_them(tmp_path, capsys):
    (tmp_path / "d.csv").write_text(DATA)
    store = ["--store", str(tmp_path / "s")]
    add = ["study", "add", *store, "--machine", "M", str(tmp_path / "d.csv")]
    assert main([*add, "--less-is-better", "p98"]) == 2
    assert "has no metric 'p98'" in capsys.readouterr().err
    assert main([*add, "--less-is-better", "p99"]) == 0

    def table(name, *more):
        capsys.readouterr()
        words = ["study", "table", name, *store, "--machine", "M", "--csv", *more]
        assert main(words) == 0
        return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))

    assert len(table("means")) == 6
    assert table("verdicts")[0]["verdict"] == "best"
    assert table("interposed", "--locks", "glibc,futex")[-1]["size"] == "all"
    assert table("collapse") == []
    best = table("verdicts", "--metric", "p99", "--at", "max")[0]
    assert (best["application"], best["lock"]) == ("db", "glibc")
    # A latency of 0 has no ratios, so it is left out.
    web = [r for r in table("verdicts", "--metric", "p99") if r["application"] == "web"]
    assert [row["lock"] for row in web] == ["futex"]
    gains = {r["application"]: r for r in table("sensitivity", "--metric", "p99")}
    assert gains["web"]["gain_max_pct"] == "0"
    assert (
        main(["study", "table", "interposed", *store, "--machine", "M", "--locks", "x"])
        == 2
    )
    assert "is not two locks" in capsys.readouterr().err
