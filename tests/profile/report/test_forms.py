# SPDX-License-Identifier: MIT
"""Tests the formats for other tools, such as JSON, CSV, folded stacks and pprof."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import profile_samples
import pytest
from profile_samples import SAMPLES, hot_lock, many_locks, stack
from trace_samples import BEGIN, SECOND, Synthetic

from hasp.profile.model.build import load
from hasp.profile.model.distribution import Distribution
from hasp.profile.model.profile import Operation, WaiterSample, Weight
from hasp.profile.report.figures import METRICS
from hasp.profile.symbols.modules import modules_of
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    text = files("hasp.profile.report").joinpath("report.schema.json").read_text()
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", SAMPLES)
def test_json_follows_its_schema(name, report, validator):
    status, out, _ = report(name, "--json", "-")
    assert status == 0
    assert out.count("\n") == 1
    document = json.loads(out)
    validator.validate(document)
    # The schema describes every field that is written.
    assert set(document) == set(validator.schema["properties"])
    known = validator.schema["$defs"]
    for lock in document["locks"]:
        assert set(lock) == set(known["site"]["properties"])
        assert set(lock["wait_ns"]) == set(known["times"]["properties"])


def test_json_has_the_figures(report):
    _, out, _ = report("hot_lock", "--json", "-")
    document = json.loads(out)
    lock = document["locks"][0]
    assert lock["name"] == "db.c:88 &db->mu"
    assert lock["site"] == "db.c:88"
    assert lock["contended"] == pytest.approx(0.45)
    assert lock["wait_ns"]["total"] == 18_000_000_000
    assert lock["wait_ns"]["p50"] < lock["wait_ns"]["p99"] < lock["wait_ns"]["max"]
    assert document["overhead"]["share"] == pytest.approx(0.004)
    assert document["verdict"]


def test_a_trace_after_json_is_not_a_destination(report, tmp_path):
    """`hasp report --json hasp.trace` reads hasp.trace and writes to stdout."""
    status, out, _ = report("hot_lock", "--json")
    assert status == 0
    assert json.loads(out)["schema"] == "hasp.report/2"
    assert (tmp_path / "hasp.trace").read_text() == "stands for a trace"
    status, out, _ = report("hot_lock", "--folded", "wait")
    assert status == 0
    assert "db_put" in out


def test_the_trace_is_not_overwritten(report, tmp_path):
    status, _, err = report("hot_lock", "--csv", tmp_path / "hasp.trace")
    assert status == 2
    assert "is the trace itself" in err


def test_two_formats_cannot_share_stdout(report, tmp_path):
    status, _, err = report("hot_lock", "--json", "-", "--csv", "-")
    assert status == 2
    assert "json and csv would both go to standard output" in err
    target = tmp_path / "out.csv"
    status, out, _ = report("hot_lock", "--json", "-", "--csv", target)
    assert status == 0
    assert json.loads(out)
    assert target.read_text().startswith("number,")


def test_many_locks_do_not_make_large_json(report):
    _, out, _ = report(many_locks(), "--json", "-")
    site = json.loads(out)["locks"][0]
    assert site["instances"] == 10_000
    assert len(site["members"]) == 100


def test_csv_has_every_figure(report):
    _, out, _ = report("hot_lock", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["site"] for row in rows] == ["db.c:88", "log.c:12", "pool.cc:140"]
    assert float(rows[0]["wait_total_ns"]) == 18e9
    assert float(rows[0]["contended"]) == pytest.approx(0.45)
    assert rows[1]["waiters_mean"] == ""  # not measured is not 0
    assert len(rows[0]) == 5 + len(METRICS)


def test_markdown_is_a_table(report):
    _, out, _ = report("deadlock", "--markdown", "-")
    lines = out.splitlines()
    assert lines[0].startswith("**")
    heads = next(line for line in lines if line.startswith("| lock"))
    row = next(line for line in lines if line.startswith("| bank.c:10 &from"))
    assert heads.count("|") == row.count("|") == 12
    assert "`pay at bank.c:31`" in out


def test_folded_stacks_weigh_time(report):
    _, out, _ = report("hot_lock", "--folded", "wait")
    lines = dict(line.rsplit(" ", 1) for line in out.splitlines())
    assert lines == {
        "work;db_put;db.c:88 &db->mu": "16000000",  # microseconds
        "work;db_get;db.c:88 &db->mu": "2000000",
    }
    _, out, _ = report("hot_lock", "--folded", "hold")
    assert "work;db_put;db.c:88 &db->mu 7000000" in out
    status, _, err = report("hot_lock", "--folded", "time", "x.txt")
    assert status == 2
    assert "--folded wait or --folded hold" in err


def test_folded_frames_stay_separate(report):
    weight = Weight(1, stack("a;b x.c:1", "main x.c:2"), 1, 2000, 0, 0)
    _, out, _ = report(replace(hot_lock(), weights=(weight,)), "--folded", "wait")
    assert out == "main;a:b;lock without a site 2\n"


def test_speedscope(report):
    _, out, _ = report("hot_lock", "--speedscope", "-")
    document = json.loads(out)
    assert document["$schema"].endswith("file-format-schema.json")
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    wait, hold = document["profiles"]
    assert wait["type"] == "sampled" and wait["unit"] == "nanoseconds"
    stacks = [[frames[number] for number in sample] for sample in wait["samples"]]
    assert stacks[0] == ["work", "db_put", "db.c:88 &db->mu"]
    assert wait["endValue"] == sum(wait["weights"]) == 18_000_000_000
    assert len(hold["samples"]) == len(hold["weights"])


def slices(events):
    return [one for one in events if one["ph"] == "X" and one.get("cat") == "holder"]


def test_chrome_trace(report):
    _, out, _ = report("hot_lock", "--chrome-trace", "-")
    document = json.loads(out)
    events = document["traceEvents"]
    assert {one["ph"] for one in events} == {"M", "X", "C"}
    names = {one["args"]["name"] for one in events if one["ph"] == "M"}
    assert {"db.c:88 &db->mu", "worker-3"} <= names
    counters = [one for one in events if one["name"] == "waiters of db.c:88 &db->mu"]
    assert {one["args"]["waiters"] for one in counters} == {0, 2, 3}
    held = slices(events)
    assert {one["name"] for one in held} >= {"thread 2 (worker-2)"}
    for before, after in pairwise(held):
        # Overlapping slices of a track are drawn wrongly.
        assert before["ts"] + before["dur"] <= after["ts"]
    times = [one[key] for one in events for key in ("ts", "dur") if key in one]
    assert all(isinstance(each, int) for each in times), (
        "rounding may make slices overlap"
    )
    threads = {one["tid"] for one in events if one.get("cat") == "thread"}
    locks = {one["tid"] for one in held}
    assert locks and not locks & threads
    program, of_locks = (one["pid"] for one in events if one["name"] == "process_name")
    assert of_locks > 1 << 22 > program, "no thread can have this number"


def test_a_holder_in_several_samples_is_one_slice(report):
    number = hot_lock().sites[0].locks[0].number
    ms = 1_000_000
    samples = [(10, 2), (20, 2), (30, 2), (40, 3), (100, 3), (110, 0)]
    samples = tuple(WaiterSample(at * ms, number, 1, who, 1) for at, who in samples)
    _, out, _ = report(replace(hot_lock(), waiters=samples), "--chrome-trace", "-")
    found = [
        (one["ts"] / 1000, one["dur"] / 1000, one["name"].split()[1])
        for one in slices(json.loads(out)["traceEvents"])
    ]
    assert found == [(0, 30, "2"), (30, 10, "3"), (90, 10, "3")]


def test_waiters_drop_to_zero_between_samples(report):
    number = hot_lock().sites[0].locks[0].number
    ms = 1_000_000
    samples = [10, 20, 30, 100, 110]
    samples = tuple(WaiterSample(at * ms, number, 2, 0, 1) for at in samples)
    _, out, _ = report(replace(hot_lock(), waiters=samples), "--chrome-trace", "-")
    counted = [
        (one["ts"] / 1000, one["args"]["waiters"])
        for one in json.loads(out)["traceEvents"]
        if one["name"].startswith("waiters of")
    ]
    assert counted == [(0, 2), (10, 2), (20, 2), (30, 0), (90, 2), (100, 2), (110, 0)]


def test_a_rare_waiter_is_not_drawn_until_the_next_one(report):
    number = hot_lock().sites[0].locks[0].number
    second = 1_000_000_000
    samples = tuple(WaiterSample(at * second, number, 1, 2, 2) for at in (1, 5, 9))
    profile = replace(hot_lock(), waiters=samples, samples=1000)
    _, out, _ = report(profile, "--chrome-trace", "-")
    found = slices(json.loads(out)["traceEvents"])
    assert [one["dur"] / 1000 for one in found] == [20, 20, 20]


def test_what_was_not_timed_is_null_not_zero(report):
    """A sampled run with few acquisitions, none of which has a timed hold."""
    profile = hot_lock()
    first = profile.sites[0]
    blank = Distribution((0,) * 128, tuple(range(129)), 0, 0, 2_000_000)
    use = replace(first.stats[Operation.LOCK], hold=blank)
    site = replace(first, stats={Operation.LOCK: use})
    _, out, _ = report(replace(profile, sites=(site,)), "--json", "-")
    hold = json.loads(out)["locks"][0]["hold_ns"]
    names = ("total", "mean", "p50", "p99", "max")
    assert [hold[name] for name in names] == [None] * 5
    assert hold["number"] == 2_000_000


def test_unused_locks_have_no_rows(report):
    profile = hot_lock()
    unused = profile_samples.site(9, "b.c:1 x", profile_samples.use(0, 0, 0, 0), 0.0)
    _, out, _ = report(replace(profile, sites=(*profile.sites, unused)), "--csv", "-")
    assert "b.c:1" not in out


def read_pprof(content):
    from hasp.profile.report.pprof import message_class

    return message_class().FromString(gzip.decompress(content))


def test_pprof(report, tmp_path):
    target = tmp_path / "locks.pb.gz"
    assert report("hot_lock", "--pprof", target)[0] == 0
    found = read_pprof(target.read_bytes())
    text = found.string_table
    assert text[0] == ""
    kinds = [(text[one.type], text[one.unit]) for one in found.sample_type]
    assert kinds[:2] == [("contentions", "count"), ("delay", "nanoseconds")]
    assert list(found.sample[0].value) == [800_000, 16 * 10**9, 1_600_000, 7 * 10**9]
    places = {one.id: one for one in found.location}
    names = {one.id: text[one.name] for one in found.function}
    leaf = places[found.sample[0].location_id[0]]
    assert [names[line.function_id] for line in leaf.line] == ["db_put"]
    assert leaf.line[0].line == 120


def test_pprof_keeps_inlined_calls_with_their_address(report, tmp_path):
    outer, inner = stack("caller x.c:9"), stack("inlined_one x.h:3")
    frames = (replace(inner[0], inlined=True), *outer)
    profile = replace(hot_lock(), weights=(Weight(100000, frames, 1, 5, 1, 5),))
    target = tmp_path / "locks.pb.gz"
    report(profile, "--pprof", target)
    found = read_pprof(target.read_bytes())
    assert len(found.location) == 1
    names = [found.string_table[one.name] for one in found.function]
    assert names == ["inlined_one", "caller"]


@pytest.mark.slow  # Go compiles its pprof tool on first use
@pytest.mark.timeout(900)
def test_go_reads_pprof(report, tmp_path):
    go = shutil.which("go")
    if not go:
        pytest.skip("go is not installed")
    target = tmp_path / "locks.pb.gz"
    report("hot_lock", "--pprof", target)
    command = [go, "tool", "pprof", "-top", "-sample_index=delay", target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr
    assert "db_put" in done.stdout and "88.89%" in done.stdout


EVIL = b"\x1b[31m<script><b>&\xff\"'\n"  # a valid file name on Linux


def test_control_characters_in_names_are_escaped_in_every_form(report, tmp_path):
    """Names of programs, threads and files may contain any byte except zero."""
    trace = Synthetic()
    trace.set_header(
        command=np.void((b"./" + EVIL + b"\0").ljust(4096, b"\0")),
        executable=b"/tmp/" + EVIL,
    )
    base = 0x400000
    trace.add(
        *(ChunkKind.MODULES,), begin=base, end=base * 2, bias=base, path=b"/tmp/" + EVIL
    )
    site = trace.stack(base + 0x10)
    lock = trace.lock(site=site, address=64, first_stack=site)
    trace.thread(name=EVIL[:15], tid=9)
    trace.use({"wait": [SECOND // 2]}, site=site, thread=1, acquisitions=9, contended=1)
    trace.add(
        *(ChunkKind.WAITER_SAMPLES,), ticks=BEGIN + SECOND // 2, lock=lock, weight=1
    )
    trace.add(*(ChunkKind.STACK_PROFILE,), lock=lock, stack=site, waits=1, wait_ticks=9)
    profile = load(trace.write(tmp_path / "hasp.trace"))
    assert profile.sites[0].place.startswith("\\x1b[31m")
    forms = ("--json", "--csv", "--markdown", "--html", "--speedscope")
    for form in (*forms, "--chrome-trace", "--threads"):
        status, out, _ = report(profile, form, *(["-"] if form != "--threads" else []))
        assert status == 0
        assert "\x1b" not in out
        assert "<script><b>" not in out or form != "--html"
        assert "\\x1b[31m" in out.replace("\\\\", "\\") or form == "--speedscope"
        out.encode()
        if form in ("--json", "--speedscope", "--chrome-trace"):
            json.loads(out)


def test_a_program_with_such_a_name_has_its_symbols(tmp_path):
    """The file is opened by the bytes of its name, not by its printed name."""
    records = np.zeros(1, format.MODULE)
    records[0]["begin"], records[0]["end"] = 1, 2
    records[0]["path"] = os.fsencode(tmp_path) + b"/\x07\xff"
    (module,) = modules_of(records).modules
    Path(module.path).touch()
    assert [os.fsencode(each.name) for each in tmp_path.iterdir()] == [b"\x07\xff"]
    assert module.name == "\\x07\\xff"
