# SPDX-License-Identifier: MIT
"""Recomputes the lock study's printed tables from the authors' runs."""

from __future__ import annotations

import numpy
import pytest
from study.printed import Agreement, count, is_memcached, possible, printed, reference

from hasp.statistics import sensitivity, standing, superiority
from hasp.study.catalogue import TABLES
from hasp.study.grids import grid_of, runs_of
from hasp.study.importing import import_csv
from hasp.study.samples import create_or_open
from hasp.study.tables import Question

FILES = {"A-64": "A64.csv", "A-48": "A48.csv", "I-48": "I48.csv", "I-20": "I20.csv"}


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    store = create_or_open(tmp_path_factory.mktemp("store") / "s")
    for machine, name in FILES.items():
        import_csv(store, machine, reference("litl-datasets", name))
    return store.read()


@pytest.fixture(scope="module")
def grids(samples):
    return {machine: grid_of(samples, machine, "throughput") for machine in FILES}


def rows_of(name, grid, **options):
    table = TABLES[name](Question({"M": grid}, **options))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.mark.parametrize(
    ("machine", "number", "name", "cells"),
    [
        ("A-64", "7", "table07-gain-rdev-A64.csv", 258),
        ("A-48", "19", "table19-gain-rdev-A48.csv", 222),
    ],
)
def test_sensitivity(grids, machine, number, name, cells):
    agreement = Agreement(number)
    ours = {row["application"]: row for row in rows_of("sensitivity", grids[machine])}
    for row in printed(name):
        program = row.pop("application")
        for column, want in row.items():
            if not is_memcached(program):
                got = ours[program][column]
                agreement.compare(f"{program} {column}", want, got)
    agreement.finish(cells)


def test_sensitive_programs(grids):
    agreement = Agreement("8")
    two = {name: grids[name] for name in ("A-64", "A-48")}
    table = TABLES["sensitive"](Question(two))
    ours = {str(row[0]): row for row in table.rows}
    for row in printed("table08-sensitive-apps.csv"):
        if row["machine"] in ours:
            for index, column in enumerate(table.columns):
                got = ours[row["machine"]][index]
                agreement.compare(f"{row['machine']} {column}", row[column], got)
    agreement.finish(8)


def counted(flags, known, programs):
    """Return counted and all programs for each lock, without those of memcached."""
    rows = [index for index, name in enumerate(programs) if not is_memcached(name)]
    return [
        (count(flags[rows, lock] & known[rows, lock]), count(known[rows, lock]))
        for lock in range(flags.shape[1])
    ]


@pytest.mark.parametrize(
    ("machine", "number", "name"),
    [
        ("A-64", "31", "table31-coverage-A64.csv"),
        ("A-48", "32", "table32-coverage-A48.csv"),
    ],
)
def test_coverage(grids, machine, number, name):
    agreement = Agreement(number)
    grid = grids[machine].only(sensitivity.sensitive_programs(grids[machine]))
    for point, column in (
        ("one", "one_node_pct"),
        ("max", "max_nodes_pct"),
        ("opt", "opt_nodes_pct"),
    ):
        means = grid.at(point)
        flags = standing.among_best(means)
        ours = dict(
            zip(
                grid.locks,
                counted(flags, ~numpy.isnan(means), grid.programs),
                strict=True,
            )
        )
        for row in printed(name):
            where = f"{row['lock']} {point}"
            agreement.allow(where, row[column], words(possible(*ours[row["lock"]])))
    agreement.finish(84)


def words(numbers):
    return {str(number) for number in numbers}


@pytest.mark.parametrize("machine", ["A-64", "A-48"])
def test_harmful(grids, machine):
    agreement = Agreement(f"12, {machine}")
    grid = grids[machine].only(sensitivity.sensitive_programs(grids[machine]))
    for point in ("max", "opt"):
        means = grid.at(point)
        known = ~numpy.isnan(means)
        flags = standing.gain_of_best(means) > standing.HARMFUL_ABOVE - 1
        ours = dict(zip(grid.locks, counted(flags, known, grid.programs), strict=True))
        for row in printed("table12-harmful.csv"):
            want = row[f"{machine}_{point}_pct"]
            where = f"{row['lock']} {point}"
            agreement.allow(where, want, words(possible(*ours[row["lock"]])))
    agreement.finish(56)


# Tables 38 and 46 have four cells each that were misread (rows clh_stp and spinlock).
@pytest.mark.parametrize(
    ("machine", "point", "number", "name", "cells", "misread"),
    [
        ("A-64", "opt", "38", "table38-pairwise-opt-A64.csv", 756, 4),
        ("A-48", "opt", "39", "table39-pairwise-opt-A48.csv", 756, 0),
        ("A-64", "max", "45", "table45-pairwise-max-A64.csv", 756, 0),
        ("A-48", "max", "46", "table46-pairwise-max-A48.csv", 729, 4),
    ],
)
def test_pairwise(grids, machine, point, number, name, cells, misread):
    agreement = Agreement(number)
    grid = grids[machine].only(sensitivity.sensitive_programs(grids[machine]))
    means = grid.at(point)
    rows = [i for i, program in enumerate(grid.programs) if not is_memcached(program)]
    for row in printed(name):
        if row["lock_b"] == "average":
            continue
        one, two = (grid.locks.index(row[key]) for key in ("lock_a", "lock_b"))
        pair = means[rows][:, [one, two]]
        pair = pair[~numpy.isnan(pair).any(axis=1)]
        wins = count(pair[:, 0] > superiority.BEATS_ABOVE * pair[:, 1])
        agreement.allow(
            f"{row['lock_a']} > {row['lock_b']}",
            row["a_better_than_b_pct"],
            words(possible(wins, len(pair))),
        )
    agreement.finish(cells, misread)


def test_the_pairwise_table_agrees_with_the_comparisons(grids):
    ours = {
        (row["lock_a"], row["lock_b"]): row["a_better_than_b_pct"]
        for row in rows_of("pairwise", grids["A-48"])
    }
    same = [
        ours[row["lock_a"], row["lock_b"]] == int(row["a_better_than_b_pct"])
        for row in printed("table39-pairwise-opt-A48.csv")
    ]
    assert sum(same) >= 718  # of 784; the others depend on memcached


# One cell (fmm from 1 to 2 nodes) is 36.24 computed and 37 printed.
@pytest.mark.parametrize(
    ("machine", "number", "name", "cells", "exceptions"),
    [
        ("A-64", "13", "table13-pairwise-changes-A64.csv", 104, 1),
        ("A-48", "66", "table66-pairwise-changes-A48.csv", 84, 0),
    ],
)
def test_changes(grids, machine, number, name, cells, exceptions):
    agreement = Agreement(number)
    ours = {row["application"]: row for row in rows_of("changes", grids[machine])}
    for row in printed(name):
        program = row.pop("application")
        for column, want in row.items():
            if want and not is_memcached(program):
                got = ours[program][column]
                agreement.compare(f"{program} {column}", want, got)
    agreement.finish(cells, exceptions)


# Two printed cells of table 52 differ from the authors' data.
@pytest.mark.parametrize(
    ("point", "number", "name", "cells", "exceptions"),
    [
        ("max", "52", "table52-gain-best-vs-lock-max-A64.csv", 547, 2),
        ("opt", "53", "table53-gain-best-vs-lock-opt-A64.csv", 486, 0),
    ],
)
def test_best_vs_lock(grids, point, number, name, cells, exceptions):
    agreement = Agreement(number)
    ours = {
        (row["application"], row["lock"]): row["gain_printed"]
        for row in rows_of("best-vs-lock", grids["A-64"], at=point)
    }
    for row in printed(name):
        if not is_memcached(row["application"]):
            key = row["application"], row["lock"]
            agreement.compare(" ".join(key), row["gain_printed"], ours[key])
    agreement.finish(cells, exceptions)


@pytest.mark.parametrize("machine", ["A-64", "A-48"])
def test_breakdown(grids, machine):
    """The tolerance is one point, because the printed shares include memcached."""
    agreement = Agreement(f"10, {machine}")
    ours = {row["nodes"]: row for row in rows_of("breakdown", grids[machine])}
    for row in printed("table10-opt-node-breakdown.csv"):
        if row["machine"] == machine:
            share = ours[int(row["nodes"])]["share_of_pairs_pct"]
            near = words(range(share - 1, share + 2))
            agreement.allow(f"{row['nodes']} nodes", row["share_of_pairs_pct"], near)
    agreement.finish(5)


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        ("A-64", "table31-coverage-A64.csv"),
        ("A-48", "table32-coverage-A48.csv"),
    ],
)
def test_the_coverage_summary_is_that_of_the_printed_coverages(machine, name):
    from hasp.study.tables import coverage_summary

    agreement = Agreement(f"11, {machine}")
    columns = {"one": "one_node_pct", "max": "max_nodes_pct", "opt": "opt_nodes_pct"}
    for row in printed("table11-coverage-stats.csv"):
        if row["machine"] == machine:
            column = columns[row["configuration"]]
            ours = coverage_summary(float(line[column]) for line in printed(name))
            for want, got in zip(list(row.values())[2:], ours, strict=True):
                agreement.compare(row["configuration"], want, got)
    agreement.finish(12)


def test_tables_for_energy(samples):
    """The numbers of sensitive programs on the Intel machines are those of table 75."""
    agreement = Agreement("75")
    for row in printed("table75-sensitive-apps-energy.csv"):
        grid = grid_of(samples, row["machine"], "tpp")
        (ours,) = rows_of("sensitive", grid)
        for column in ("tested_applications", "lock_sensitive_applications"):
            agreement.compare(f"{row['machine']} {column}", row[column], ours[column])
    agreement.finish(4, exceptions=1)  # 36 tested printed for I-20, 37 in the file


def test_energy_correlates_with_throughput(samples):
    """Section 6.2 and table 16: Pearson's r is 0.55 for MySQL, else at least 0.87."""
    found = {}
    for machine in ("I-48", "I-20"):
        grid, power = (grid_of(samples, machine, m) for m in ("throughput", "tpp"))
        chosen = grid.only(sensitivity.sensitive_programs(grid))
        for row in rows_of("correlation", chosen, other={"M": power}):
            found[machine, row["application"]] = row["pearson_r"]
    assert found.pop(("I-48", "mysqld")) == 0.55
    assert found[("I-48", "memcached")] == 0.97
    assert min(found.values()) >= 0.87


OTHERS = {
    "pinned": ("A64-pinning.csv", "A-64", "throughput"),
    "latency": ("A64-latency.csv", "A-64", "latency"),
}


@pytest.mark.parametrize(
    ("dataset", "programs", "sensitive", "fewest"),
    [("pinned", 45, 26, 10), ("latency", 7, 7, 4)],
)
def test_other_data_sets_have_all_tables(
    tmp_path, dataset, programs, sensitive, fewest
):
    """Data sets with threads bound to nodes, and with the tail latencies of servers."""
    name, machine, metric = OTHERS[dataset]
    store = create_or_open(tmp_path / "s")
    import_csv(store, machine, reference("litl-datasets", name))
    assert (metric in store.lower_is_better()) == (metric == "latency")
    samples = store.read()
    inverted = metric in store.lower_is_better()
    grid = grid_of(samples, machine, metric, inverted=inverted)
    runs = {machine: runs_of(samples, machine, metric)}
    tables = {
        name: rows_of(name, grid, other={"M": grid}, runs=runs, inverted=inverted)
        for name in TABLES
        if name != "interposed"
    }
    assert len(tables["sensitivity"]) == programs
    (row,) = tables["sensitive"]
    assert row["lock_sensitive_applications"] == sensitive
    assert len(tables["coverage"]) == len(tables["harmful"]) == 28
    assert len(tables["pairwise"]) == 28 * 28
    assert len(tables["means"]) == sum(map(bool, runs[machine]))
    assert len({row["application"] for row in tables["changes"]}) == sensitive
    assert len(tables["collapse"]) > 0
    best = [row for row in tables["verdicts"] if row["verdict"] == "best"]
    assert len(best) == programs
    told = sum(row["verdict"] == "worse" for row in tables["verdicts"])
    assert told > fewest * programs


def test_interposition_hardly_changes_the_manual_locks(tmp_path):
    """Section 3.3: 4 programs under 28 locks, built in and interposed on A-64.

    The released runs are not those of table 6, but they agree: interposition
    changes much less than the choice of the lock.
    """
    lines = reference("litl-datasets", "validation.csv").read_text().splitlines()
    store = create_or_open(tmp_path / "s")
    for kind in ("manual", "litl"):
        rows = [line.split(",", 1)[1] for line in lines if line.startswith(f"{kind},")]
        path = tmp_path / f"{kind}.csv"
        path.write_text(
            "bench,strategy,throughput,node\n" + "".join(f"{row},8\n" for row in rows)
        )
        import_csv(store, kind, path)
    samples = store.read()
    grids = {name: grid_of(samples, name, "throughput") for name in ("manual", "litl")}
    table = TABLES["interposed"](Question(grids))
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [row["application"] for row in rows] == [
        *("linear_regression", "matrix_multiply", "radiosity_ll", "s_raytrace_ll"),
        "all",
    ]
    assert [row["pairs"] for row in rows] == [28, 28, 28, 28, 112]
    for row in rows:
        assert abs(row["change_pct"]) < 10
        assert row["low_pct"] < row["change_pct"] < row["high_pct"]
