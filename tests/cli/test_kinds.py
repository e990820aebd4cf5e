# SPDX-License-Identifier: MIT
"""Algorithms of rwlocks beside those of mutexes: options, lists and refusals."""

from __future__ import annotations

import json

import pytest

SETTINGS = ("HASP_LOCK", "HASP_RWLOCK", "HASP_SPINLOCK", "HASP_BARRIER")


def settings(cli, *words):
    """Return the algorithms that the program is told, "-" for none."""
    line = " ".join(f"${{{name}:--}}" for name in SETTINGS)
    finished = cli("run", *words, "--", "sh", "-c", f"echo {line}")
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "futex - - -"),
        ("--lock mcs", "mcs - - -"),
        ("--rwlock rw-spin", "glibc rw-spin - -"),
        ("--rwlock ticket", "glibc ticket - -"),
        ("--rwlock bravo+rw-fair", "glibc bravo+rw-fair - -"),
        ("--rwlock mutex:mcs --lock ticket", "ticket mutex:mcs - -"),
        ("--rwlock glibc", "- - - -"),
        ("--lock glibc --rwlock rw-spin", "glibc rw-spin - -"),
        ("--only mutexes", "futex - - -"),
        ("--only rwlocks", "glibc rw-fair - -"),
        ("--only mutex,rwlock --lock mcs", "mcs rw-fair - -"),
    ],
)
def test_run_replaces_the_named_kinds(cli, words, expected):
    assert settings(cli, *words.split()) == expected.split()


@pytest.mark.parametrize(
    ("words", "message", "remedy"),
    [
        (
            "--lock rw-spin",
            "rw-spin is a reader-writer lock algorithm, not one for mutexes",
            "--rwlock rw-spin",
        ),
        (
            "--lock bravo+rw-fair",
            "is a reader-writer lock algorithm",
            "--rwlock bravo+rw-fair",
        ),
        (
            "--rwlock mcs",
            "mcs is a mutex algorithm, not one for reader-writer locks",
            "--lock mcs, or --rwlock mutex:mcs",
        ),
        ("--rwlock rw-fare", "no reader-writer lock algorithm called", "rw-fair"),
        ("--rwlock bravo+rw-fare", "no reader-writer lock", "bravo+rw-fair"),
        ("--rwlock=", "no reader-writer lock algorithm called ''", "hasp list"),
        ("--lock=", "there is no lock called ''", "hasp list"),
        ("--only rwlocks --lock mcs", "--only rwlocks keeps glibc's", "--only"),
        ("--only rwlcks", "no kind of lock called 'rwlcks'", "rwlock"),
        ("--rwlock rw-fair --plan p.toml", "cannot be combined", "default_rwlock"),
        ("--only mutexes --plan p.toml", "cannot be combined", "entries"),
    ],
)
def test_refused(cli, words, message, remedy):
    finished = cli("run", *words.split(), "--", "true")
    assert finished.returncode == 2
    said = " ".join(finished.stderr.split())
    assert message in said
    assert remedy in said


def listed(cli, *words):
    """Return the kind and the name of each algorithm that `hasp list` selects."""
    finished = cli("list", *words, "--json")
    assert finished.returncode == 0, finished.stderr
    records = map(json.loads, finished.stdout.splitlines())
    return [f"{record['kind']} {record['name']}" for record in records]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--kind rwlock --fifo", "rwlock rw-fair, rwlock ticket"),
        ("--kind rwlocks --spins", "rwlock rw-spin, rwlock ticket"),
        ("ticket", "mutex ticket, rwlock ticket"),
        ("rw-spin mcs", "mutex mcs, rwlock rw-spin"),
        ("--kind rwlock --locks bravo+all", "rwlock bravo+rw-fair"),
        ("--kind rwlock mutex:mcs", "rwlock mutex:mcs"),
        ("gcr+mcs rw-fair", "rwlock rw-fair, mutex gcr+mcs"),
    ],
)
def test_list(cli, words, expected):
    assert sorted(listed(cli, *words.split())) == sorted(expected.split(", "))


def test_list_shows_each_kind_in_a_table_of_its_own(cli):
    text = cli("list").stdout
    mutexes, rwlocks = text.split("reader-writer locks (--rwlock)")
    assert mutexes.startswith("mutexes (--lock)")
    assert "mcs-park" in mutexes
    assert "rw-fair" not in mutexes
    assert "rw-fair *" in rwlocks
    assert "bravo+LOCK" in rwlocks
    assert "mutex:LOCK" in rwlocks
    assert max(map(len, text.splitlines())) <= 80


def test_list_of_an_unknown_kind(cli):
    finished = cli("list", "--kind", "rwlok")
    assert finished.returncode == 2
    assert "did you mean rwlock" in finished.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--rwlocks rw-fair", ["glibc", "rwlock:rw-fair"]),
        ("--rwlocks fifo", ["glibc", "rwlock:rw-fair", "rwlock:ticket"]),
        ("--rwlocks ticket --locks ticket", ["glibc", "ticket", "rwlock:ticket"]),
    ],
)
def test_compare(cli, tmp_path, words, expected):
    out = tmp_path / "results.jsonl"
    finished = cli(
        *("compare", "--runs", "1", "--warmup", "0", "--json", str(out)),
        *(*words.split(), "--", "true"),
    )
    assert finished.returncode == 0, finished.stderr
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert records[0]["settings"]["locks"] == expected
    ran = {record["lock"] for record in records if record["kind"] == "run"}
    assert ran == set(expected)


def test_compare_refuses_another_kind(cli):
    finished = cli("compare", "--rwlocks", "mcs", "--", "true")
    assert finished.returncode == 2
    assert "--locks mcs" in finished.stderr


def test_profile_tells_the_recorder(cli):
    line = "echo $HASP_TRACE_LOCK $HASP_TRACE_OTHER_LOCKS"
    words = ("profile", "--rwlock", "rw-spin", "--", "sh", "-c", line)
    assert cli(*words).stdout.split() == ["glibc", "rw-spin/glibc/glibc"]
    words = ("profile", "--lock", "mcs", "--", "sh", "-c", line)
    assert cli(*words).stdout.split() == ["mcs", "glibc/glibc/glibc"]
