# SPDX-License-Identifier: MIT
"""Tests `hasp check` with the real explorer, including a deep search."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hasp.base.errors import HaspError
from hasp.locks import native

HASP = [sys.executable, "-m", "hasp", "check"]


def explorer_is_built() -> bool:
    try:
        native.program("hasp-explore")
    except HaspError:
        return False
    return True


pytestmark = pytest.mark.skipif(
    not explorer_is_built(), reason="a build with a sanitizer has no explorer"
)


def check(*options: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HASP, *options], capture_output=True, text=True, timeout=timeout
    )


def test_two_threads_are_explored_completely() -> None:
    done = check("--locks", "ttas,mcs", "--client", "pair", "--json")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [(row["lock"], row["verdict"]) for row in records] == [
        ("ttas", "ok"),
        ("mcs", "ok"),
    ]
    assert all(row["complete"] and row["schema"] == "hasp.check/1" for row in records)
    command = "hasp check --locks ttas,mcs --client pair --json"
    assert {row["command"] for row in records} == {command}


def test_a_kind_has_its_own_locks_and_clients() -> None:
    done = check(
        "--kind", "rwlock", "--locks", "rw-ttas", "--client", "recursive", "--json"
    )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [(row["kind"], row["lock"], row["complete"]) for row in records] == [
        ("rwlock", "rw-ttas", True)
    ]


@pytest.mark.parametrize(
    ("kind", "lock", "client"),
    [("spinlock", "ticket", "fork"), ("barrier", "dissemination", "phases")],
)
def test_spin_locks_and_barriers_are_explored(
    kind: str, lock: str, client: str
) -> None:
    done = check("--kind", kind, "--locks", lock, "--client", client, "--json")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [(row["kind"], row["lock"], row["complete"]) for row in records] == [
        (kind, lock, True)
    ]


def test_elided_locks_have_their_own_clients() -> None:
    done = check("--locks", "elide+mcs", "--client", "elided-free", "--json")
    assert done.returncode == 0, done.stderr
    [record] = map(json.loads, done.stdout.splitlines())
    found = (record["kind"], record["lock"], record["client"], record["complete"])
    assert found == ("mutex", "elide+mcs", "elided-free", True)


def test_elided_rwlocks_have_their_own_clients() -> None:
    done = check(
        *("--kind", "rwlock", "--locks", "elide+rw-ttas", "--json"),
        *("--client", "elided-trylocks"),
    )
    assert done.returncode == 0, done.stderr
    [record] = map(json.loads, done.stdout.splitlines())
    found = (record["kind"], record["lock"], record["client"], record["complete"])
    assert found == ("rwlock", "elide+rw-ttas", "elided-trylocks", True)


@pytest.mark.parametrize(
    ("kind", "names", "client"),
    [
        (
            "global",
            [
                *("global+futex", "global+mcs"),
                *("elide-global+futex", "elide-global+mcs"),
            ],
            "global-communicating",
        ),
        ("channel", ["spin", "park", "park-fenced"], "round-trip"),
        ("map", ["map", "map-words"], "writers"),
        ("transaction", ["transaction", "messages", "messages-eager"], "alone"),
        ("executor", ["ffwd"], "served-twice"),
    ],
)
def test_parts_of_the_library_are_explored(
    kind: str, names: list[str], client: str
) -> None:
    options = ("--locks", names[0]) if kind == "executor" else ()
    done = check("--kind", kind, *options, "--client", client, "--quick", "--json")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [(row["kind"], row["lock"], row["verdict"]) for row in records] == [
        (kind, name, "ok") for name in names
    ]


def test_the_table_shows_how_far_the_search_went() -> None:
    done = check("--locks", "mcs", "--client", "exclusion", "--preemptions", "0")
    assert done.returncode == 0, done.stderr
    assert "0 preemptions" in done.stdout


def test_clients_are_listed() -> None:
    done = check("--list-clients")
    assert "exclusion" in done.stdout and done.returncode == 0
    assert "rwlock" in done.stdout and "writers-first" in done.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--client", "nobody"),
        ("--locks", "glibc"),
        ("--preemptions", "few"),
        ("--kind", "semaphore"),
        ("--client=recursive", "--locks=mcs"),
        ("--client=elided", "--locks=mcs"),
        ("--client=pair", "--locks=elide+mcs"),
        ("--kind=rwlock", "--locks=mcs"),
        ("--kind=channel", "--locks=mcs"),
    ],
    ids=lambda options: options[0],
)
def test_usage_errors_end_with_2(options: tuple[str, ...]) -> None:
    done = check(*options)
    assert done.returncode == 2 and done.stderr


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_lock_deeply() -> None:
    done = check("--time-limit", "15s", timeout=7200)
    assert done.returncode == 0, done.stdout
