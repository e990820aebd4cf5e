# SPDX-License-Identifier: MIT
"""The export for the Firefox Profiler."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from profile_samples import SAMPLES, hot_lock

# The columns of each table in version 48 of the processed profile format.
COLUMNS = {
    "samples": {"stack", "time", "weight", "eventDelay"},
    "markers": {"data", "name", "startTime", "endTime", "phase", "category"},
    "stackTable": {"frame", "prefix", "category", "subcategory"},
    "frameTable": {
        *("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol"),
        *("innerWindowID", "implementation", "line", "column"),
    },
    "funcTable": {
        *("isJS", "relevantForJS", "name", "resource", "fileName", "lineNumber"),
        "columnNumber",
    },
    "resourceTable": {"lib", "name", "host", "type"},
    "nativeSymbols": {"libIndex", "address", "name", "functionSize"},
}
# Indices: the column, and the table whose length bounds it.
INDICES = {
    ("samples", "stack"): "stackTable",
    ("stackTable", "frame"): "frameTable",
    ("stackTable", "prefix"): "stackTable",
    ("frameTable", "func"): "funcTable",
    ("funcTable", "name"): "stringArray",
    ("funcTable", "fileName"): "stringArray",
    ("markers", "name"): "stringArray",
}


def exported(report, made):
    status, out, _ = report(made, "--firefox", "-")
    assert status == 0
    return json.loads(out)


def length(thread, table: str) -> int:
    found = thread[table]
    return len(found) if table == "stringArray" else found["length"]


@pytest.mark.parametrize("name", SAMPLES)
def test_tables_are_complete_and_indices_are_valid(name, report):
    document = exported(report, name)
    assert document["meta"]["preprocessedProfileVersion"] == 48
    categories = document["meta"]["categories"]
    assert "grey" in {one["color"] for one in categories}, "the viewer needs a default"
    tids = [thread["tid"] for thread in document["threads"]]
    assert len(set(tids)) == len(tids)
    for thread in document["threads"]:
        assert isinstance(thread["pid"], str)
        for table, columns in COLUMNS.items():
            found = thread[table]
            extra = {"length"} | ({"weightType"} if table == "samples" else set())
            assert set(found) == columns | extra
            assert {len(found[column]) for column in columns} == {found["length"]}
        for (table, column), target in INDICES.items():
            for index in thread[table][column]:
                assert index is None or 0 <= index < length(thread, target)
        for index, prefix in enumerate(thread["stackTable"]["prefix"]):
            assert prefix is None or prefix < index, "a caller comes before its callees"


def test_stacks_weigh_time(report):
    wait, hold = exported(report, "hot_lock")["threads"][:2]
    assert wait["samples"]["weightType"] == "tracing-ms"
    assert sum(wait["samples"]["weight"]) == pytest.approx(18_000)
    assert sum(hold["samples"]["weight"]) == pytest.approx(8_000)
    strings, stacks = wait["stringArray"], wait["stackTable"]
    calls = []
    place = wait["samples"]["stack"][0]
    while place is not None:
        function = wait["frameTable"]["func"][stacks["frame"][place]]
        calls.append(strings[wait["funcTable"]["name"][function]])
        place = stacks["prefix"][place]
    assert calls == ["db.c:88 &db->mu", "db_put", "work"]


def test_holders_and_waiters_are_markers(report):
    document = exported(report, "hot_lock")
    schemas = {one["name"]: one for one in document["meta"]["markerSchema"]}
    tracks = {thread["name"]: thread for thread in document["threads"]}
    held = tracks["thread 2 (worker-2)"]["markers"]
    assert {one["lock"] for one in held["data"]} == {"db.c:88 &db->mu"}
    waited = tracks["waiters: db.c:88 &db->mu"]["markers"]
    assert {one["waiters"] for one in waited["data"]} == {2, 3}
    for markers in (held, waited):
        for data in markers["data"]:
            known = {field["key"] for field in schemas[data["type"]]["data"]}
            assert set(data) - {"type"} <= known
        spans = list(zip(markers["startTime"], markers["endTime"], strict=True))
        assert all(begin <= end for begin, end in spans)
        for (_, end), (begin, _) in pairwise(spans):
            assert end <= begin + 1e-9, "markers of a track must not overlap"


def test_a_program_without_samples_has_no_timeline(report):
    profile = replace(hot_lock(), waiters=(), samples=0)
    assert len(exported(report, profile)["threads"]) == 2
