# SPDX-License-Identifier: MIT
"""A plan made from a profile selects the locks of each site in the program."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lock_list import records
from profiler.recorded import environment

from hasp.locks.site_plan.model import SitePlan
from hasp.locks.site_plan.toml_file import save
from hasp.profile.model.build import load
from hasp.profile.model.plan_entry import entry_of

HERE = Path(__file__).parent
LOCKS = ("mcs", "ticket", "clh")


def slot(name: str) -> int:
    return 1 + [record["name"] for record in records()].index(name)


def planned(program: Path, lock: str | None, wanted: dict[str, str]) -> Path:
    """Profile the program; return a plan with `wanted` locks by part of the site."""
    trace = program.parent / "hasp.trace"
    env = environment(lock, trace)
    subprocess.run([program], env=env, check=True, capture_output=True)
    entries = []
    for words, chosen in wanted.items():
        sites = [site for site in load(trace).sites if words in site.name]
        assert len(sites) == 1, (words, [site.name for site in load(trace).sites])
        assert sites[0].origins, words
        entries += [entry_of(words, chosen, each) for each in sites[0].origins]
    path = program.parent / "hasp.plan.toml"
    save(SitePlan(tuple(entries), "futex"), path)
    return path


def run(hasp: Any, plan: Path, program: Path) -> list[int]:
    """Return the indices that the program prints; every plan entry must match."""
    done = hasp("run", "--plan", str(plan), "--", str(program))
    assert (done.returncode, done.stderr) == (0, "")
    return [int(word) for word in done.stdout.split() if word.isdecimal()]


QUICK = ("-O0", None), ("-O2", "mcs-park")
BUILDS = [
    *QUICK,
    *(
        pytest.param(options, lock, marks=pytest.mark.slow)
        for options, lock in (("-O2", None), ("-O0", "mcs-park"))
    ),
]


@pytest.mark.parametrize(("options", "lock"), BUILDS)
def test_c(hasp: Any, tmp_path: Path, lock: str | None, options: str) -> None:
    program = tmp_path / "program"
    words = ["cc", "-g", options, "-o", program, HERE / "program.c", "-pthread"]
    subprocess.run(words, check=True)
    plan = planned(program, lock, {"db->mu": "mcs", "cache_lock": "ticket"})
    assert run(hasp, plan, program) == [slot("mcs"), slot("ticket")]


@pytest.mark.parametrize(("options", "lock"), BUILDS)
def test_cpp(hasp: Any, tmp_path: Path, lock: str | None, options: str) -> None:
    if not shutil.which("c++"):
        pytest.skip("no C++ compiler")
    program = tmp_path / "program"
    words = ["c++", "-g", options, "-o", program, HERE / "program.cpp", "-pthread"]
    subprocess.run(words, check=True)
    wanted = {"store.mutex": "mcs", "other.mutex": "ticket", "journal": "clh"}
    plan = planned(program, lock, wanted)
    assert run(hasp, plan, program) == [slot(name) for name in LOCKS]


@pytest.mark.slow
def test_while_profiled(hasp: Any, tmp_path: Path) -> None:
    """Frames of the recorder do not count as the program's."""
    program = tmp_path / "program"
    words = ["cc", "-g", "-O2", "-o", program, HERE / "program.c", "-pthread"]
    subprocess.run(words, check=True)
    plan = planned(program, None, {"db->mu": "mcs", "cache_lock": "ticket"})
    trace = str(tmp_path / "again.trace")
    done = hasp("profile", "-o", trace, "--lock", f"plan:{plan}", "--", str(program))
    assert done.returncode == 0, done.stderr
    assert f"db {slot('mcs')} cache {slot('ticket')}" in done.stdout
