# SPDX-License-Identifier: MIT
"""A plan from a profile selects the algorithms of rwlocks and barriers, by site."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lock_list import records
from profiler.recorded import environment

from hasp.locks.site_plan.model import Entry, SitePlan
from hasp.locks.site_plan.toml_file import save
from hasp.profile.model.build import load
from hasp.profile.model.plan_entry import entry_of
from hasp.profile.model.profile import Kind, Site

SOURCE = Path(__file__).parent / "kinds.c"
WANTED = {"table_lock": "phase-fair", "made_lock": "rw-ttas", "step": "tournament"}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "kinds"
    options = ("-g", "-O1", "-pthread")
    subprocess.run(["gcc", *options, SOURCE, "-o", path], check=True)
    return path


@pytest.fixture
def entries(program: Path) -> list[Entry]:
    """Return the entries of a recorded run with the wanted algorithms."""
    trace = program.parent / "hasp.trace"
    env = environment(None, trace)
    subprocess.run([program], env=env, check=True, capture_output=True)
    found: list[Entry] = []
    for site in load(trace).sites:
        found += entries_of(site)
    return found


def entries_of(site: Site) -> list[Entry]:
    wanted = [lock for name, lock in WANTED.items() if name in site.name]
    if site.kind not in (Kind.RWLOCK, Kind.BARRIER) or not wanted:
        return []
    assert site.origins, site.name
    kind = site.kind.value
    return [entry_of(site.name, wanted[0], origin, kind) for origin in site.origins]


def slot(kind: str, name: str) -> int:
    return 1 + [record["name"] for record in records(kind)].index(name)


def run(hasp: Any, program: Path, plan: SitePlan) -> subprocess.CompletedProcess[str]:
    path = program.parent / "hasp.plan.toml"
    save(plan, path)
    env = {**os.environ, "HASP_VERBOSE": "1"}
    done: subprocess.CompletedProcess[str] = hasp(
        "run", "--plan", path, "--", program, env=env
    )
    assert done.returncode == 0, done.stderr
    return done


def test_each_site_has_its_algorithm(
    hasp: Any, program: Path, entries: list[Entry]
) -> None:
    assert {entry.kind for entry in entries} == {"rwlock", "barrier"}
    done = run(hasp, program, SitePlan(tuple(entries), "futex"))
    expected = [slot("rwlock", WANTED[name]) for name in ("table_lock", "made_lock")]
    assert [int(word) for word in done.stdout.split()] == expected
    for entry in entries:
        assert f"plan: {entry.lock} for {entry.site}\n" in done.stderr
    assert "created at" not in done.stderr


def test_other_objects_have_the_default_of_their_kind(
    hasp: Any, program: Path, entries: list[Entry]
) -> None:
    table = tuple(entry for entry in entries if "table_lock" in entry.site)
    plan = SitePlan(table, "glibc", others=(("rwlock", "rw-futex"),))
    done = run(hasp, program, plan)
    # Index 0 means the default of the process.
    made = int(done.stdout.split()[1])
    assert int(done.stdout.split()[0]) == slot("rwlock", "phase-fair")
    assert made in (0, slot("rwlock", "rw-futex"))
    assert " rwlock=rw-futex" in done.stderr


def test_entries_that_match_nothing_are_reported(
    hasp: Any, program: Path, entries: list[Entry]
) -> None:
    missing = Entry.of_global(
        "gone", "rw-ttas", entries[0].ranges[0].module, 8, kind="rwlock"
    )
    absent = Entry.of_global(
        "left", "central", entries[0].ranges[0].module, 8, kind="barrier"
    )
    done = run(hasp, program, SitePlan((missing, absent), "futex"))
    assert "plan: no rwlock created or first locked at gone\n" in done.stderr
    assert "plan: no barrier created at left\n" in done.stderr
