# SPDX-License-Identifier: MIT
"""Tests what all verbs share (help, errors, colour, 80 columns), and `hasp list`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from hasp.base.durations import format_duration, parse_duration
from hasp.cli.main import VERBS

from .conftest import LOCKS, RUN_HASP


def test_help_lists_every_verb(cli):
    finished = cli("--help")
    assert finished.returncode == 0
    for verb in VERBS:
        assert f"\n  {verb}" in finished.stdout
    assert max(map(len, finished.stdout.splitlines())) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples_in_80_columns(cli, verb):
    finished = cli(verb, "--help", COLUMNS="80")
    assert finished.returncode == 0
    assert f"hasp {verb}" in finished.stdout
    assert "example" in finished.stdout
    assert max(map(len, finished.stdout.splitlines())) <= 80


def test_without_a_verb(cli):
    finished = cli()
    assert finished.returncode == 2
    assert "usage" in finished.stderr


def test_an_unknown_verb(cli):
    finished = cli("comapre")
    assert finished.returncode == 2
    assert "did you mean `hasp compare`" in finished.stderr


def test_an_unknown_option(cli):
    finished = cli("run", "--locks", "mcs", "--", "true")
    assert finished.returncode == 2
    assert "--locks" in finished.stderr
    assert "did you mean --lock" in finished.stderr
    assert "`hasp run --help` lists the options" in finished.stderr


def test_version(cli):
    assert cli("--version").stdout.startswith("hasp ")


def test_a_closed_pipe(environment):
    line = f"{sys.executable} -c '{RUN_HASP}' list --json | head -c 1"
    finished = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert finished.stderr == ""


def test_output_to_a_full_disk(environment):
    """Hasp reports the error once, and Python does not report it again."""
    finished = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c '{RUN_HASP}' list --json > /dev/full"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert finished.returncode == 2
    complaint, remedy = finished.stderr.splitlines()
    assert complaint == "hasp: cannot write the output: No space left on device"
    assert remedy == "      free some space there"


def on_terminal(environment, *words, **extra):
    """Return the output of `hasp` on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    settings = {"TERM": "xterm-256color", "COLUMNS": "80", **extra}
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_HASP, *words],
        env={**environment, **settings},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    output = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(ours)
    process.wait(30)
    return output.decode()


def test_colour_is_used_on_a_terminal_only(cli, environment):
    assert "\033[" in on_terminal(environment, "list")
    assert "\033[" not in on_terminal(environment, "list", NO_COLOR="1")
    assert "\033[" not in cli("list").stdout
    assert "\033[" in on_terminal(environment, "run", "--lock", "no", "true")
    assert "\033[" not in cli("run", "--lock", "no", "true").stderr


def test_list_fits_80_columns_and_names_every_lock(cli):
    lines = cli("list", "--kind", "mutex").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    first_words = [line.split()[0] for line in lines if line.strip()]
    for name, *_ in LOCKS:
        assert name in first_words


def test_list_shows_which_locks_collapse(cli):
    text = " ".join(cli("list", "--kind", "mutex").stdout.split())
    assert "Collapse when oversubscribed" in text
    assert "only spin: ttas, ticket, mcs." in text
    assert "Collapse" not in cli("list", "--kind", "mutex", "--locks", "parks").stdout


def test_list_groups_by_family(cli):
    lines = cli("list", "--kind", "mutex").stdout.splitlines()
    families = [line.strip() for line in lines if line.rstrip().endswith(":")]
    assert families == ["competitive:", "direct handoff:"]
    order = [line.split()[0] for line in lines[2:] if line.startswith("  ")]
    assert [name for name in order if name in {lock[0] for lock in LOCKS}] == [
        *("glibc", "ttas", "futex"),
        *("ticket", "mcs", "mcs-park"),
    ]


def test_list_shows_how_often_a_waiter_is_overtaken(cli):
    rows = {
        line.split()[0]: line
        for line in cli("list", "--kind", "mutex").stdout.splitlines()
        if line
    }
    assert "any number" in rows["ttas"]
    assert "never" in rows["mcs-park"]


def test_details_are_complete(cli):
    finished = cli("list", "mcs", "futex")
    text = finished.stdout
    assert max(map(len, text.splitlines())) <= 80
    for words in ("direct handoff", "never: strict FIFO", "16 bytes", "a paper"):
        assert words in text
    assert "mcs_spin" in text
    assert "ticket" not in text
    assert cli("list", "--locks", "mcs").stdout == cli("list", "mcs_spin").stdout
    wide = cli("list", "--wide").stdout
    assert all(f"{name}: what {name} is" in wide for name, *_ in LOCKS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--fifo"], ["ticket", "mcs", "mcs-park"]),
        (["--fifo", "--parks"], ["mcs-park"]),
        (["--parks", "--bypasses", "--light"], ["glibc", "futex"]),
        (["--spins", "--trylock-hardened"], ["ttas", "ticket", "mcs"]),
        (["--category", "direct-handoff"], ["ticket", "mcs", "mcs-park"]),
        (["--category", "Direct handoff", "--spins"], ["ticket", "mcs"]),
        (["--locks", "ttas,mcs,futex", "--spins"], ["ttas", "mcs"]),
        (["--locks", "direct-handoff"], ["ticket", "mcs", "mcs-park"]),
    ],
)
def test_filters_must_all_hold(cli, words, expected):
    assert names(cli, *words) == expected


def test_filters_that_match_nothing(cli):
    finished = cli("list", "--fifo", "--bypasses")
    assert finished.returncode == 2
    assert "--fifo --bypasses" in finished.stderr
    finished = cli("list", "--category", "hierarchical")
    assert finished.returncode == 2
    assert "competitive, direct-handoff" in finished.stderr


def names(cli, *words):
    finished = cli("list", "--json", *words)
    assert finished.returncode == 0, finished.stderr
    records = map(json.loads, finished.stdout.splitlines())
    return [record["name"] for record in records if record["kind"] == "mutex"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("all", ["glibc", "ttas", "ticket", "mcs", "mcs-park", "futex"]),
        ("mcs", ["mcs"]),
        ("mcs_stp,futex,mcs_stp", ["mcs-park", "futex"]),
        ("fifo", ["ticket", "mcs", "mcs-park"]),
        ("spins", ["ttas", "ticket", "mcs"]),
        ("parks", ["glibc", "mcs-park", "futex"]),
        ("ttas, fifo", ["ttas", "ticket", "mcs", "mcs-park"]),
        ("gcr+mcs", ["gcr+mcs"]),
        ("gcr+mcs_stp,mcs", ["mcs", "gcr+mcs-park"]),
        ("gcr+fifo,gcr+ttas", ["gcr+ttas", "gcr+ticket", "gcr+mcs", "gcr+mcs-park"]),
        ("gcr+parks", ["gcr+mcs-park", "gcr+futex"]),
    ],
)
def test_selections(cli, words, expected):
    assert names(cli, "--locks", words) == expected


def test_locks_that_cannot_be_wrapped(cli):
    refused = cli("list", "--locks", "gcr+glibc")
    assert refused.returncode == 2
    assert "cannot be wrapped" in refused.stderr
    refused = cli("list", "--locks", "gcr+mcz")
    assert refused.returncode == 2
    assert "mcs" in refused.stderr


def test_selections_that_select_nothing(cli):
    unknown = cli("list", "--locks", "mcs,prks")
    assert unknown.returncode == 2
    assert "parks" in unknown.stderr
    empty = cli("list", "--locks", "numa")
    assert empty.returncode == 2
    assert "selects no lock" in empty.stderr


def mutexes(cli, *words):
    return cli("list", "--kind", "mutex", "--json", *words)


def test_list_json(cli, tmp_path):
    records = [json.loads(line) for line in mutexes(cli).stdout.splitlines()]
    assert {record["schema"] for record in records} == {"hasp.list/1"}
    spinning = [r["name"] for r in records if r["collapses_oversubscribed"]]
    assert spinning == ["ttas", "ticket", "mcs"]
    assert mutexes(cli, "locks.jsonl").stdout == ""
    assert len((tmp_path / "locks.jsonl").read_text().splitlines()) == len(LOCKS)


def test_json_does_not_replace_a_program(cli, script):
    program = script("exit 0")
    before = program.read_text()
    finished = cli("list", "--json", program)
    assert finished.returncode == 2
    assert "executable" in finished.stderr
    assert program.read_text() == before


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("500us", 5e-4),
        ("1.5m", 90),
        ("20 ms", 0.02),
        ("3", 3),
        ("1h", 3600),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "10 parsecs", "-3s", "1e", "ten"])
def test_invalid_durations(text):
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "12.3 ms"),
        (0.9999, "1.00 s"),
        (4.556, "4.56 s"),
        (125.0, "2 min 05 s"),
        (3599.7, "1 h 00 min"),
        (7260, "2 h 01 min"),
        (5e-7, "500 ns"),
        (0, "0 s"),
    ],
)
def test_durations_as_text(seconds, text):
    assert format_duration(seconds) == text
