# SPDX-License-Identifier: MIT
"""Tests what users see of `hasp study`: import, tables, and refused input."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from hasp.cli.main import main
from hasp.cli.study import ACTIONS

RUNS = """\
bench,node,strategy,throughput,tpp
db,1,mcs,10,1
db,1,mcs,12,1
db,1,ttas,5,
db,2,mcs,20,2
db,2,ttas,4,1
web,1,mcs,7,1
web,1,ttas,7,1
"""


@pytest.fixture
def hasp(capsys):
    """Run the command in this process; a process for each case would be slow."""

    def run(*words):
        status = main([str(word) for word in words])
        captured = capsys.readouterr()
        return SimpleNamespace(
            returncode=status, stdout=captured.out, stderr=captured.err
        )

    return run


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    return path


@pytest.fixture
def store(hasp, tmp_path, runs):
    hasp("study", "add", "--store", tmp_path / "s", "--machine", "M", runs)
    return tmp_path / "s"


def table(hasp, store, *words):
    text = hasp("study", "table", *words, "--store", store, "--csv").stdout
    return list(csv.DictReader(io.StringIO(text)))


def test_a_table_of_imported_runs(hasp, store):
    rows = table(hasp, store, "sensitivity", "--machine", "M")
    assert [row["application"] for row in rows] == ["db", "web"]
    assert rows[0]["gain_one_pct"] == "120"  # means of 11 and 5
    assert rows[0]["gain_max_pct"] == "400"
    assert rows[1]["gain_max_pct"] == "0"


def test_unmeasured_metrics_are_absent(hasp, store):
    rows = table(
        hasp, store, "best-vs-lock", "--machine", "M", "--metric", "tpp", "--at", "one"
    )
    # The other lock has no energy values.
    assert [(row["application"], row["lock"]) for row in rows] == [("db", "mcs")]


def test_the_store_is_plain_parquet_with_provenance(store):
    import polars

    samples = polars.read_parquet(store / "samples/*.parquet")
    assert samples.columns == [
        "machine", "program", "lock", "size", "run", "metric", "value",
    ]  # fmt: skip
    assert len(samples) == 13  # seven runs of two metrics, with one value missing
    (path,) = (store / "samples").glob("*.json")
    batch = json.loads(path.read_text())
    assert (batch["source"], batch["runs"]) == ("runs.csv", 7)
    assert batch["size_unit"] == "nodes"


def test_list_shows_the_batches(hasp, store):
    result = hasp("study", "list", "--store", store)
    assert "runs.csv" in result.stdout
    lines = hasp("study", "list", "--store", store, "--json").stdout.splitlines()
    assert json.loads(lines[0])["runs"] == 7


def test_the_same_file_is_not_imported_twice(hasp, store, runs):
    again = hasp(
        "study",
        "add",
        "--store",
        store,
        "--machine",
        "M",
        runs,
    )
    assert again.returncode == 2
    assert "already in" in again.stderr


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("db,1,mcs,12,1", "db,1,mcs,fast,1", "line 3: throughput is 'fast'"),
        ("db,1,mcs,12,1", "db,1,mcs,inf,1", "line 3: throughput is 'inf'"),
        ("db,2,ttas,4,1", "db,zero,ttas,4,1", "line 6: node is 'zero'"),
        ("db,2,ttas,4,1", "db,0,ttas,4,1", "line 6: node is '0'"),
        ("web,1,mcs,7,1", ",1,mcs,7,1", "line 7: bench is ''"),
        ("bench,", "what,", "line 1: no column for the program"),
        ("bench,node", "bench,threads,node", "two columns for the size"),
        ("db,1,mcs,12,1", "db,1,mcs,12,1,9", "is not a CSV file"),
        ("throughput,tpp", "tpp,tpp", "line 1: two columns are called 'tpp'"),
        (RUNS[RUNS.index("db") :], "db,1,mcs,,\n", "has not a single value"),
        (RUNS[RUNS.index("db") :], "", "has no runs"),
    ],
)
def test_bad_files_are_refused_completely(
    hasp, tmp_path, runs, before, after, complaint
):
    assert before in RUNS
    runs.write_text(RUNS.replace(before, after))
    store = tmp_path / "s"
    result = hasp(
        "study",
        "add",
        "--store",
        store,
        "--machine",
        "M",
        runs,
    )
    assert result.returncode == 2
    assert complaint in result.stderr
    assert str(runs) in result.stderr
    assert not list(store.glob("samples/*"))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--machine", "N"], "has no machine 'N'"),
        (["--machine", "M", "--metric", "watts"], "has no metric 'watts'"),
    ],
)
def test_unknown_names(hasp, store, words, complaint):
    result = hasp(
        "study",
        "table",
        "coverage",
        "--store",
        store,
        *words,
    )
    assert result.returncode == 2
    assert complaint in result.stderr


def test_other_folders_are_not_stores(hasp, tmp_path, runs):
    words = ("--machine", "M")
    result = hasp(
        "study",
        "table",
        "coverage",
        "--store",
        tmp_path,
        *words,
    )
    assert "is not a store" in result.stderr
    result = hasp("study", "add", "--store", tmp_path, *words, runs)
    assert "is not a store, and not empty" in result.stderr
    (tmp_path / "hasp-store.json").write_text('{"schema": "hasp.store/9"}')
    result = hasp("study", "list", "--store", tmp_path)
    assert result.returncode == 2
    assert "'hasp.store/9'" in result.stderr


def test_a_damaged_batch_is_named(hasp, store):
    (path,) = (store / "samples").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:100])
    result = hasp(
        "study",
        "table",
        "coverage",
        "--store",
        store,
        "--machine",
        "M",
    )
    assert result.returncode == 2
    assert "cannot be read" in result.stderr
    (path,) = (store / "samples").glob("*.json")
    for content in ("[]", "{}", path.read_text().replace('"added"', '"Added"')):
        path.write_text(content)
        result = hasp("study", "list", "--store", store)
        assert result.returncode == 2
        assert f"{path} is damaged" in result.stderr


def test_adding_a_file_does_not_import_the_statistics(tmp_path, runs):
    """Importing SciPy takes longer than adding the largest data set."""
    code = (
        "import sys; from hasp.cli.main import main; status = main(sys.argv[1:]);"
        "sys.exit(status or 'scipy' in sys.modules)"
    )
    words = ["study", "add", "--store", tmp_path / "s", "--machine", "M", runs]
    subprocess.run([sys.executable, "-c", code, *map(str, words)], check=True)


@pytest.mark.parametrize("action", ACTIONS)
def test_the_help_of_each_action(capsys, action):
    """The help fits 80 columns, and its usage line names the action."""
    assert main(["study", action, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"usage: hasp study {action} ")
    assert max(map(len, lines)) <= 80
